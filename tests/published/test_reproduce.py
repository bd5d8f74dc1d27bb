"""Published items, run again: all are there and lead somewhere; the command, its views, and data that are odd."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

import evenhand
from conftest import called
from evenhand.cli import COMMANDS, PLACES
from evenhand.errors import UsageError
from evenhand.published import registry, reproduce as reproducing
from evenhand.published.document import STATUS
from evenhand.published.item import DOCUMENTS, Claim, Item, Outcome, Setting, Value

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reproduced" / "published.md"
ITEMS = registry.items()


def test_every_document_has_its_items_once() -> None:
    assert [id_ for id_, n in Counter(i.id for i in ITEMS).items() if n > 1] == []
    assert {i.document for i in ITEMS} == set(DOCUMENTS)
    assert [i.id for i in ITEMS if not re.fullmatch("[a-z0-9-]+", i.id)] == []


@pytest.mark.parametrize("item", ITEMS, ids=lambda i: i.id)
def test_an_item_leads_somewhere(item: Item) -> None:
    if item.place:
        try:
            import_module(f"evenhand.{item.place}")
        except evenhand.MissingLibrary:  # networks
            assert item.place.startswith("learn.")
    for test in item.test.split(", ") if item.test else ():
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), test
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test
    if item.command:
        assert item.command.split()[0] == "evenhand"
        assert item.command.split()[1] in {*COMMANDS, *PLACES}, item.command
    assert item.run is not None or item.test or item.lacks
    assert not item.says.endswith(".")


def test_the_page_of_the_documentation_has_every_item() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \|", PAGE.read_text(encoding="utf-8"), flags=re.M)
    listed = {f"{label} {says}" for label, says in rows}
    from evenhand.report.markdown import escaped

    assert [i.id for i in ITEMS if f"{escaped(i.label)} {escaped(i.says)}" not in listed] == []


def test_what_is_run_is_the_same_everywhere() -> None:
    found = evenhand.reproduce("becker-table-1")
    document = found.to_dict()
    jsonschema.validate(document, evenhand.schema("reproduction"))
    (entry,) = document["items"]
    assert entry["status"] == "agrees"
    assert {v["column"] for v in entry["values"]} == {"COMPAS"}
    assert found.to_json() == evenhand.reproduce(["becker-table-1"]).to_json()
    for view in (found.to_html(), found.to_markdown(), repr(found)):
        assert "0.1613" in view


def _item(run: object, **words: object) -> Item:
    return Item("becker-table-9", "Table 9", "nothing", "measures", run=run, **words)  # type: ignore[arg-type]


def _document(monkeypatch: pytest.MonkeyPatch, item: Item, **words: object) -> dict[str, object]:
    monkeypatch.setattr(registry, "items", lambda: (item,))
    document = evenhand.reproduce(**words).to_dict()  # type: ignore[arg-type]
    jsonschema.validate(document, evenhand.schema("reproduction"))
    return document["items"][0]


@pytest.mark.parametrize(
    ("outcome", "status", "largest"),
    [
        (Outcome((Value("a", "b", 0.5, 0.5004, 0.0005), Value("a", "c", None, 7.0))), "agrees", 0.0004),
        (Outcome((Value("a", "b", 0.5, 0.49, 0.0005),)), "differs", 0.01),
        (Outcome((Value("a", "b", 0.5, float("nan"), 0.0005), Value("a", "c", 1.0, 1.0))), "differs", None),
        (Outcome((Value("a", "b", None, 0.3),)), "shown", None),
        (Outcome((Value("a", "b", 0.5, 0.5),), (Claim("all is well", False, "it is not"),)), "differs", 0),
        (Outcome(claims=(Claim("all is well", True),)), "agrees", None),
    ],
)
def test_what_came_of_an_item(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome, status: str, largest: float | None
) -> None:
    entry = _document(monkeypatch, _item(lambda setting: outcome))
    assert entry["status"] == status
    assert entry["largest_difference"] == (None if largest is None else pytest.approx(largest))


def test_what_cannot_be_run_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def never(setting: Setting) -> Outcome:
        raise AssertionError("not to be run")

    for words, options, why in (
        ({"data": ("people.csv|people.parquet",)}, {}, "needs people.csv or people.parquet: say --data FOLDER"),
        ({"data": ("people.csv",)}, {"data": tmp_path}, "needs people.csv in the folder of --data"),
        ({"libraries": ("no_such_library",)}, {}, "needs no_such_library: pip install no_such_library"),
        ({"lacks": "the texts are not public"}, {}, "the texts are not public"),
        ({"slow": True}, {}, "takes minutes: evenhand reproduce becker-table-9, or --full"),
    ):
        entry = _document(monkeypatch, _item(never, **words), **options)  # type: ignore[arg-type]
        assert (entry["status"], entry["why_not"]) == ("not run", why)
    (tmp_path / "people.csv").write_text("a\n")

    def damaged(setting: Setting) -> Outcome:
        evenhand.audit(setting.file("people.csv"), score="s", group="g")
        raise AssertionError("no such column")

    entry = _document(monkeypatch, _item(damaged, data=("people.csv",)), data=tmp_path)
    assert entry["status"] == "not run"
    assert "'s'" in str(entry["why_not"])


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["Figure", "4"], "taskesen-figure-4"), (["FIGURE 4"], "taskesen-figure-4"),
        (["fig.", "4"], "taskesen-figure-4"),
        (["Lemma", "A.1"], "taskesen-lemma-a-1"), (["Eq. (7)"], "taskesen-equation-7"),
        (["Theorem 5.4"], "taskesen-theorem-5-4"), (["Taskesen-Figure-4"], "taskesen-figure-4"),
        (["taskesen", "table", "1"], "taskesen-table-1"), (["Table", "1", "Figure", "5"], "taskesen-figure-5"),
        (["TABLE"], "becker-table-1"), (["ALL"], "taskesen-figure-1"),
    ],
)  # fmt: skip
def test_items_are_found_by_what_they_are_called(words: list[str], ids: str) -> None:
    listed = called("reproduce", "--list", *words)
    assert listed.returncode == 0, listed.stderr
    assert ids in listed.stdout.split()
    assert words == ["ALL"] or words[0] == "taskesen" or "taskesen-figure-1" not in listed.stdout.split()


def test_a_slow_item_is_run_if_it_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [Item(f"becker-table-{n}", f"Table {n}", "nothing", "measures", run=lambda s: Outcome(), slow=True)
            for n in (8, 9)]  # fmt: skip
    monkeypatch.setattr(registry, "items", lambda: tuple(made))
    for names, run in (("Table 8", 1), ("tab. 9", 1), (["becker-table-8", "Table 9"], 2), ("becker", 0)):
        counts = evenhand.reproduce(names).to_dict()["counts"]  # type: ignore[arg-type]
        assert counts["shown"] == run


def test_the_table_says_where_which_command_and_how_far_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row for each item: what a reader of the documentation looks for."""
    found = Outcome((Value("a", "b", 0.5, 0.5004, 0.0005),))
    made = (
        Item("becker-table-8", "Table 8", "numbers", "measures.roc", "evenhand demo", run=lambda s: found),
        Item("becker-definition-9", "Definition 9", "a word", "measures.roc", "evenhand audit people.csv",
             test="tests/x.py::test_it"),
        Item("becker-figure-9", "Figure 9", "a drawing", "measures.roc", lacks="the texts are not public"),
    )  # fmt: skip
    monkeypatch.setattr(registry, "items", lambda: made)
    text = evenhand.reproduce().to_markdown()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:4]
    assert [len(row) for row in rows] == [6, 5, 5]  # the last is empty
    assert rows[0][2:] == [
        "`evenhand.measures.roc`", "`evenhand reproduce becker-table-8`, `evenhand demo`", "agrees", "0.0004",
    ]  # fmt: skip
    assert rows[1][2:] == ["`evenhand.measures.roc`", "`evenhand audit people.csv`", "defined, shown by `test_it`"]
    assert rows[2][4] == "not run: the texts are not public"


def test_what_differs_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Outcome((Value("a", "b", 0.5, 0.7), Value("a", "c", 1.0, 1.0)), (Claim("it grows", False, "0.2, 0.1"),))
    made = tuple(
        Item(f"becker-table-{n}", f"Table {n}", "numbers", "measures.roc", run=lambda s, o=o: o)
        for n, o in ((8, odd), (9, Outcome(claims=(Claim("all is well", True),))))
    )
    monkeypatch.setattr(registry, "items", lambda: made)
    found = evenhand.reproduce()
    text = found.to_markdown()
    first = text.partition("## What differs\n")[2].partition("## Becker")[0].strip()
    assert first == "- Becker et al. 2024, Table 8: 1 of 2 numbers; not so: it grows (0.2, 0.1)"
    assert "Becker et al. 2024, Table 8</a>: 1 of 2 numbers; not so: it grows (0.2, 0.1)" in found.to_html()
    monkeypatch.setattr(registry, "items", lambda: made[1:])
    assert (
        "What differs"
        not in evenhand.reproduce().to_markdown().partition("## Becker")[0].partition("published item")[2]
    )


def test_progress_of_an_item_is_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(setting: Setting) -> Outcome:
        setting.progress(0.5, "halfway")
        return Outcome()

    items = tuple(Item(f"becker-table-{n}", "Table", "nothing", "measures", run=half) for n in (8, 9))
    monkeypatch.setattr(registry, "items", lambda: items)
    told: list[float] = []
    reproducing.reproduce(progress=lambda fraction, text: told.append(fraction))
    assert told == [0, 0.25, 0.5, 0.75]


def test_the_command(tmp_path: Path) -> None:
    listed = called("reproduce", "--list")
    assert listed.returncode == 0
    assert [i.id for i in ITEMS if i.id not in listed.stdout] == []
    some = called("reproduce", "becker", "--list").stdout
    assert "becker-table-1" in some
    assert "taskesen" not in some
    page, data = tmp_path / "page.html", tmp_path / "found.json"
    one = called("reproduce", "becker-table-1", "--html", str(page), "--json", str(data))
    assert (one.returncode, one.stderr) == (0, f"wrote {page}\nwrote {data}\n")
    assert one.stdout.startswith("1 published item (agrees: 1)\n")
    assert json.loads(data.read_text())["counts"] == {**dict.fromkeys(STATUS, 0), "agrees": 1}
    assert "African-American" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "say what to reproduce"),
        (["becker-table-99"], "there is no item 'becker-table-99'"),
        (["Table", "99"], "there is no item 'Table 99'"),
        (["?"], "there is no item '?'"),
        (["becke"], "did you mean"),
        (["becker-table-1", "--data", "nowhere"], "there is no folder"),
        (["becker-table-1", "--data", __file__], "there is no folder"),
        (["becker-table-1", "--seed", "-1"], "must be a whole number"),
        (["becker-table-1", "--json", "nowhere/out.json"], "nowhere"),
        (["\x1b[31m"], "there is no item"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], says: str) -> None:
    result = called("reproduce", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("words", [{"names": 7}, {"names": [None]}, {"rng": "x"}, {"full": "no"}, {"data": 3}])
def test_bad_arguments(words: dict[str, object]) -> None:
    with pytest.raises(evenhand.EvenhandError):
        evenhand.reproduce(**words)  # type: ignore[arg-type]


def test_charts_are_found_by_the_name_of_their_item() -> None:
    found = evenhand.reproduce("becker-table-1")
    assert found.plots() == ()
    with pytest.raises(UsageError, match="nothing that was run has a chart"):
        found.plot()


def test_an_id_names_its_item_alone() -> None:
    for item in registry.items():
        assert [one.id for one in registry.chosen([item.id])] == [item.id]


def test_a_damaged_file_of_the_one_item_named_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def damaged(setting: Setting) -> Outcome:
        raise evenhand.DataError("no such column")

    monkeypatch.setattr(registry, "items", lambda: (_item(damaged),))
    with pytest.raises(evenhand.DataError, match="no such column"):
        evenhand.reproduce("becker-table-9")
