"""Published audits of Local Law 144 through the profile: their ratios, and the page about them."""

from pathlib import Path

import pytest

from conftest import benchmark_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduced" / "what-published-audits-did-not-say.md"
SAMPLE = 12
"""Every so manieth table is run without the marker `full`."""


@pytest.fixture(scope="module")
def law():
    return benchmark_of("local_law_144")


@pytest.fixture
def tables(law, data_folder):
    path = data_folder / "ll144_audits.csv"
    if not path.is_file():
        pytest.skip("the published audits are not beside the project")
    return law.read(path)


@pytest.mark.parametrize("step", [pytest.param(SAMPLE, id="some"), pytest.param(1, id="all", marks=pytest.mark.full)])
def test_published_ratios_are_those_of_the_profile(law, tables, step):
    others = [t for t in tables if "DCI" not in t.auditor]
    assert (len(others), len(law.known(others))) == (143, 135)
    told = PAGE.read_text(encoding="utf-8")
    chosen = law.known(others)[::step]
    differing = law.differing(chosen)
    assert len(differing) <= len(chosen) * 12 / 135 + 2
    if step == 1:
        assert len(chosen) - len(differing) == 123
    for table, _, why in differing:  # every one of them has its reason on the page
        assert table.audit in told
        assert why in told


def test_the_profile_gives_what_a_division_gives(law, tables):
    """Of every table, without an audit: so fast that it can be all of them."""
    for table in law.known(t for t in tables if "DCI" not in t.auditor)[::20]:
        cells = law.audited(table)
        for row, ratio in zip(table.rows, table.ratios, strict=True):
            assert cells[row.members]["impact_ratio"] == pytest.approx(ratio, abs=1e-12)
            assert (cells[row.members]["people"], cells[row.members]["selected"]) == (row.people, row.selected)


def test_numbers_of_the_page_are_those_of_the_script(law, tables):
    """Those that need no audit."""
    told = PAGE.read_text(encoding="utf-8")
    assert f"| audits | {len({t.audit for t in tables}):,} |" in told
    assert f"| tables | {len(tables):,} |" in told
    for what, n in law.unexplained(tables).items():
        assert f"| {what} | {n:,} |" in told, what


@pytest.mark.full
def test_all_numbers_of_the_page_are_those_of_the_script(law, tables):
    told = PAGE.read_text(encoding="utf-8")
    for what, n in law.figures(tables).items():
        assert f"| {what} | {n:,} |" in told, what
