"""A signed page in a browser: the logo is seen, nothing is asked for, nobody needs to scroll sideways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_browser import browser as browser  # skips all of this where there is no browser
from test_cover import png

import evenhand


@pytest.mark.parametrize("how", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}])
def test_a_signed_page(browser: Any, tmp_path: Path, how: dict[str, Any]) -> None:
    (tmp_path / "logo.png").write_bytes(png(240, 40))
    data = {"g": ["women"] * 1000 + ["men"] * 1000, "d": [1] * 35 + [0] * 965 + [1] * 80 + [0] * 920}
    found = evenhand.audit(data, prediction="d", group="g", reference="men", bootstrap=0, permutations=0)
    assert isinstance(found, evenhand.Audit)
    cover = evenhand.Cover(
        title="Who is invited", author="Ada King", organisation="Acme", logo=tmp_path / "logo.png",
        note="# Scope\n\n1. one\n   - two\n\nOnly **invitations**.",
    )  # fmt: skip
    place = tmp_path / "page.html"
    found.with_cover(cover).to_html(place)
    context, heard = browser.new_context(**how), []
    context.set_offline(True)
    page = context.new_page()
    page.on("console", lambda message: heard.append(message.text))
    page.goto(place.as_uri())
    assert page.evaluate("() => document.querySelector('img.logo').naturalWidth") == 240
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("#sign").is_visible()
    assert page.get_by_text("Signature", exact=True).is_visible()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    assert [v["id"] for v in axe.Axe().run(page).response["violations"]] == []
    assert heard == []
    context.close()
