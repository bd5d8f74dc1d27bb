"""Documentation says what the program does."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import click
import pytest

import evenhand
from conftest import evenhand as run
from evenhand.cli import SECTIONS, cli
from evenhand.measures.aggregation import CLASSWISE, GROUPWISE, METRICS
from evenhand.measures.registry import MEASURES, PRACTICE, documentation_row, guidance_row

ROOT = Path(__file__).resolve().parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_shows_what_the_demo_prints() -> None:
    blocks = re.findall(r"```\n(6,150 people .*?)\n```", text("README.md"), flags=re.DOTALL)
    assert len(blocks) == 1
    assert run("demo").stdout == blocks[0] + "\n"


def test_every_measure_is_documented() -> None:
    for m in (*MEASURES.values(), *PRACTICE.values()):
        assert documentation_row(m) in text(m.documentation).splitlines(), m.id


def test_every_measure_says_when_to_use_it_and_what_it_does_not_see() -> None:
    for m in (*MEASURES.values(), *PRACTICE.values()):
        assert m.use
        assert m.limits
        assert guidance_row(m) in text(m.documentation).splitlines(), m.id


def test_every_key_of_the_document_is_documented() -> None:
    page = text("docs/reference/json.md")
    definitions = evenhand.schema("audit")["$defs"]
    keys = [*evenhand.schema("audit")["properties"], *evenhand.schema("audit")["properties"]["data"]["properties"]]
    for name in ("attribute", "group", "measure", "largest", "impossibility", "within", "pooled_rate", "pooled_score",
                 "profile", "rule_table"):  # fmt: skip
        keys += definitions[name]["properties"]
    assert [k for k in keys if f"`{k}" not in page and f".{k}" not in page] == []


@pytest.mark.parametrize(
    ("heading", "described"),
    [
        ("several models", "candidates"),
        ("a comparison of methods", "compare"),
        ("a search for alternatives", "alternatives"),
        ("an aggregate", "aggregate"),
        ("an audit of classes", "classes"),
        ("groups as probabilities", "probable"),
        ("profiles", "profiles"),
        ("thresholds", "thresholds"),
        ("an experiment", "experiment"),
        ("a check", "check"),
        ("a monitoring report", "monitor"),
        ("a table's info", "table_info"),
        ("fairness between individuals", "individual"),
        ("counterfactual fairness", "counterfactual"),
        ("a projection test", "projection"),
        ("several projection tests", "projections"),
        ("a power calculation", "power"),
        ("advice", "guide"),
        ("a reproduction", "reproduction"),
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


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = (line.lstrip("#").strip().lower() for line in prose.splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        place = page.parent / target if target else page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), f"{target}#{anchor}"


def test_the_index_names_every_page() -> None:
    index = text("docs/README.md")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f"({page})" not in index] == ["README.md"]


def test_every_analysis_has_a_page_of_its_name() -> None:
    folders = {path.parent.name.replace("_", "-") for path in (ROOT / "src/evenhand/analyses").glob("*/__init__.py")}
    parts = {"strata"}  # of an audit, with a page of their own
    assert folders | parts == {page.stem for page in (ROOT / "docs/analyses").glob("*.md")}


def test_papers_are_cited_by_author_and_year() -> None:
    sources = [path for folder in ("benchmarks", "examples") for path in (ROOT / folder).glob("*.py")]
    for page in (*PAGES, *sources):
        private = re.findall(r"(?<![\d.,])(?<!\d\s)\b00[0-4]\b.*", page.read_text(encoding="utf-8"))
        assert private == [], page.name


def test_modules_named_in_the_documentation_exist() -> None:
    for page in PAGES:
        if page.name != "CHANGELOG.md":  # which names what was
            for name in re.findall(r"\bevenhand(?:\.[a-z_][a-z0-9_]*)+", page.read_text(encoding="utf-8")):
                assert named(name), f"{page.name}: {name}"


def named(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one; what needs PyTorch is not imported."""
    path = ROOT.joinpath("src", *name.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    module, _, attribute = name.rpartition(".")
    if module.startswith("evenhand.learn"):
        return attribute in text("src/evenhand/learn/__init__.py")
    return hasattr(import_module(module), attribute)


def test_the_map_of_the_rooms_is_true() -> None:
    source = ROOT / "src/evenhand"
    page = text("CONTRIBUTING.md")
    rooms = [path for path in source.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    rooms = [path for path in rooms if path.parent == source or path.parent.name in ("analyses", "ingest", "report")]
    assert [room.name for room in rooms if room.name not in page] == []
    assert [path.name for path in source.glob("*.py") if path.name not in page] == []
    places = [ROOT, source, source / "analyses", *rooms, *(ROOT / "tests").rglob("*")]
    for name in re.findall(r"`([\w/]+(?:/|\.py|\.md))`", page):
        assert any((place / name).exists() for place in places), name


def test_the_citation_is_of_this_version() -> None:
    citation = text("CITATION.cff")
    assert f"\nversion: {evenhand.__version__}\n" in citation
    assert citation.count("- type:") == 5


def test_the_version_is_in_the_changelog() -> None:
    assert f"## {evenhand.__version__}" in text("CHANGELOG.md")


COMMANDS = [name for commands in SECTIONS.values() for name in commands]


@pytest.mark.parametrize("command", [*COMMANDS, "check --init"])
def test_the_readme_names_every_command(command: str) -> None:
    assert f"evenhand {command}" in text("README.md")


def test_commands_of_the_documentation_have_their_options() -> None:
    for page in PAGES:
        for line in re.findall(r"(?m)(?:^|`| {4})evenhand ([a-z][^`#\n]*)", page.read_text(encoding="utf-8")):
            command: click.Command | None = cli
            for word in line.split():
                if isinstance(command, click.Group):
                    command = command.get_command(click.Context(command), word)
            assert command is not None, f"{page.name}: evenhand {line}"
            params = list(command.params)
            if command.name == "guide" and " --run " in line:  # what is no answer is an option of what is run
                for advised in ("audit", "individual"):
                    params += getattr(cli.get_command(click.Context(cli), advised), "params", [])
            options = {name for parameter in params for name in (*parameter.opts, *parameter.secondary_opts)}
            assert set(re.findall(r"(?<![\w-])--[a-z-]+", line)) <= options, f"{page.name}: evenhand {line}"


def test_extras_named_in_messages_exist() -> None:
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    for path in (ROOT / "src").rglob("*.py"):
        for extra in re.findall(r"evenhand\[(\w+)\]", path.read_text(encoding="utf-8")):
            assert extra in extras
