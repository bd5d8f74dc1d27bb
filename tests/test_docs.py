"""Documentation says what the program does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import evenhand
from conftest import evenhand as run
from evenhand.cli import SECTIONS
from evenhand.measures.aggregation import CLASSWISE, GROUPWISE, METRICS
from evenhand.measures.registry import MEASURES, documentation_row

ROOT = Path(__file__).resolve().parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_shows_what_the_demo_prints() -> None:
    blocks = re.findall(r"```\n(Evenhand audit\n.*?)\n  …\n```", text("README.md"), flags=re.DOTALL)
    assert len(blocks) == 1
    assert run("demo").stdout.startswith(blocks[0] + "\n")


def test_every_measure_is_documented() -> None:
    for m in MEASURES.values():
        assert documentation_row(m) in text(m.documentation).splitlines(), m.id


def test_every_key_of_the_document_is_documented() -> None:
    page = text("docs/reference/json.md")
    definitions = evenhand.schema("audit")["$defs"]
    keys = [*evenhand.schema("audit")["properties"], *evenhand.schema("audit")["properties"]["data"]["properties"]]
    for name in ("attribute", "group", "measure", "largest", "impossibility"):
        keys += definitions[name]["properties"]
    assert [k for k in keys if f"`{k}" not in page and f".{k}" not in page] == []


@pytest.mark.parametrize(
    ("heading", "described"),
    [
        ("several models", "candidates"),
        ("a comparison of methods", "compare"),
        ("an aggregate", "aggregate"),
        ("an audit of classes", "classes"),
        ("thresholds", "thresholds"),
        ("an experiment", "experiment"),
        ("a check", "check"),
        ("a watch", "monitor"),
        ("a table's info", "table_info"),
        ("fairness between individuals", "individual"),
        ("counterfactual fairness", "counterfactual"),
        ("a projection test", "projection"),
        ("a power calculation", "power"),
        ("advice", "guide"),
    ],
)
def test_every_key_of_other_documents_is_documented(heading: str, described: str) -> None:
    page = text("docs/reference/json.md")
    whole = page.split(f"# The JSON of {heading}")[1]
    page = page if described == "classes" else whole  # it refers to the aggregate
    found = evenhand.schema(described)
    nested = [p for p in found["properties"].values() if "properties" in p]
    keys = {key for part in (found, *found.get("$defs", {}).values(), *nested) for key in part.get("properties", ())}
    assert [k for k in sorted(keys) if f"`{k}" not in page and f".{k}" not in page] == []


def test_every_aggregate_is_documented() -> None:
    page = text("docs/analyses/classes.md")
    for name in (*METRICS, *GROUPWISE, *CLASSWISE):
        assert f"`{name}`" in page, name


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_version_is_in_the_changelog() -> None:
    assert f"## {evenhand.__version__}" in text("CHANGELOG.md")


COMMANDS = [name for commands in SECTIONS.values() for name in commands]


@pytest.mark.parametrize("command", [*COMMANDS, "check --init"])
def test_the_readme_names_every_command(command: str) -> None:
    assert f"evenhand {command}" in text("README.md")


def test_extras_named_in_messages_exist() -> None:
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    for path in (ROOT / "src").rglob("*.py"):
        for extra in re.findall(r"evenhand\[(\w+)\]", path.read_text(encoding="utf-8")):
            assert extra in extras
