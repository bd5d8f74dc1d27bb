"""The report of an audit as a Word document: what the page shows, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit import explorer, key_tables, unknown_tables
from evenhand.analyses.audit.method import facts
from evenhand.analyses.audit.overview import title_of
from evenhand.analyses.audit.page import stepped
from evenhand.analyses.audit.strata import tables as within_tables
from evenhand.analyses.audit.verdict import WORDS
from evenhand.analyses.profiles.views import plain, told
from evenhand.errors import MissingLibrary, shown_name
from evenhand.report.charts.registry import Charts
from evenhand.report.charts.render import converter
from evenhand.report.cover import MOST_CHARACTERS, read_from, said_by
from evenhand.report.page.figures import Room
from evenhand.report.word import Paper

if TYPE_CHECKING:
    from evenhand.analyses.audit.audit import Audit

_COLOURS = ("A8231B", "A8231B", "7A5200", "7A5200", "4B5563", "4B5563", "1A6B3C")
COLOURS = dict(zip(WORDS, _COLOURS, strict=True))
"""What stands white on it, or in it on white, is read by everybody."""
BRIEFLY = ("forest", "groups")
"""Charts of attributes that the verdict is not about."""
MOST_ATTRIBUTES = 6
"""So many have charts."""


def audit_word(audit: Audit) -> bytes:
    """The whole document."""
    document = audit.to_dict()
    cover = document.get("cover")
    paper = Paper(title_of(document), cover, origin(document))
    if cover is not None and cover["logo"]:
        paper.logo(cover["logo"], shown_name(cover["organisation"] or "", MOST_CHARACTERS))
    paper.heading(title_of(document), 0)
    paper.facts([*((*said_by(cover), *read_from(cover)) if cover else ()), *facts(document)])
    if "profile" in document:
        _rule(paper, document["profile"])
    first = _attributes(document)[0]
    paper.heading("What was found")
    paper.verdict(document["verdict"]["word"], COLOURS[document["verdict"]["word"]], document["verdict"]["sentence"])
    for attribute in _attributes(document):
        _tables(paper, attribute, document["options"]["confidence"], attribute is not first)
    if document["notes"]:
        paper.heading("Notes")
        for note in document["notes"]:
            paper.text(shown_name(note, 600), "List Bullet")
    _charts(paper, audit, document)
    _method(paper, document)
    if cover is not None:
        if cover["note"]:
            paper.heading("Note")
            paper.note(cover["note"])
        paper.sign(cover)
    return paper.content()


def _rule(paper: Paper, profile: dict[str, Any]) -> None:
    """The tables of a rule, with its annex, and what they do not cover."""
    paper.heading(shown_name(profile["title"], MOST_CHARACTERS))
    paper.facts([*told(profile), ("Profile", f"{shown_name(profile['name'])}, version of {profile['date']}")])
    for table in profile["tables"]:
        paper.heading(f"{'Annex: ' if table['annex'] else ''}{shown_name(table['title'], MOST_CHARACTERS)}", 2)
        paper.table(*plain(table))
        for note in table["notes"]:
            paper.text(shown_name(note, 600))
    paper.heading("Not covered", 2)
    for text in profile["not_covered"]:
        paper.text(shown_name(text, 600), "List Bullet")


def origin(document: dict[str, Any]) -> str:
    """What the properties of the file say about the table it was made from.

    >>> origin({"schema": "evenhand/audit/1", "data": {"table": "3b9f"}})
    'evenhand/audit/1 table 3b9f'
    """
    return f"{document['schema']} table {document['data']['table']}"


def _attributes(document: dict[str, Any]) -> list[dict[str, Any]]:
    """That of the verdict first."""
    return sorted(document["attributes"], key=lambda a: a["name"] != document["verdict"]["attribute"])


def _tables(paper: Paper, attribute: dict[str, Any], confidence: float, said: bool) -> None:
    """The groups and the key measures of an attribute; its verdict, if that was not said."""
    paper.heading(f"By {shown_name(attribute['name'])}")
    if said:
        paper.text(f"{attribute['verdict']['word'].capitalize()}. {attribute['verdict']['sentence']}")
    paper.table(*key_tables.groups(attribute))
    for title, (heads, rows) in key_tables.comparisons(attribute, confidence):
        paper.heading(title, 2)
        paper.table(heads, rows, [COLOURS[row[-1]] for row in rows])
    if more := key_tables.left_out(attribute):
        paper.text(more)
    if told := unknown_tables.counted(attribute):
        paper.text(f"{told}.")
    worst = attribute["verdict"]["worst"]
    if worst is not None and (
        possible := unknown_tables.measures(attribute, worst["group"], confidence, attribute["verdict"]["key"])
    ):
        paper.table(*possible)
        paper.text(unknown_tables.HOW)
    if "within" in attribute:
        _within(paper, attribute, confidence)


def _within(paper: Paper, attribute: dict[str, Any], confidence: float) -> None:
    """The strata of the group that the verdict names, and what is pooled over them."""
    group = within_tables.shown_group(attribute)
    paper.heading(within_tables.title(attribute, group), 2)
    strata = within_tables.strata(attribute, group, within_tables.FEW_STRATA)
    for rows in (
        strata,
        within_tables.first(attribute, group, confidence),
        within_tables.scores(attribute, group, confidence),
    ):
        if rows.rows:
            paper.table(*rows)
    if rest := within_tables.more(attribute, strata, "in the JSON"):
        paper.text(rest)


def _charts(paper: Paper, audit: Audit, document: dict[str, Any]) -> None:
    paper.heading("Charts")
    try:
        converter()
    except MissingLibrary as error:
        paper.text(f"Charts are not drawn: {error}")
        return
    drawing = _drawing(audit, document)
    for attribute in _attributes(document)[:MOST_ATTRIBUTES]:
        worst, name = attribute["verdict"]["worst"], attribute["name"]
        if worst is None:
            continue
        pair, everyone = drawing(attribute=name, group=worst["group"]), drawing(attribute=name)
        wanted = list(pair.kinds) if name == document["verdict"]["attribute"] else BRIEFLY
        for chart in wanted:
            about = everyone if chart == "groups" else pair
            if chart != "null" and not about.lacks(chart):
                paper.chart(about.draw(chart))


def _drawing(audit: Audit, document: dict[str, Any]) -> Callable[..., Charts]:
    """The charts as a page draws them: a point over scores is never one person."""
    if document["data"]["score_range"] is None:
        return audit.charts
    references = {a["name"]: a["reference"] for a in document["attributes"]}
    steps, _ = explorer.steps_of(audit.table, references, document["data"]["threshold"], Room(), "coarse")
    return audit.charts if steps.least == 1 else partial(stepped, audit.charts, audit.table, steps)


def _method(paper: Paper, document: dict[str, Any]) -> None:
    options = {k: v for k, v in document["options"].items() if v is not None and k != "tolerance"}
    paper.heading("How it was computed")
    paper.text(
        "The same table, version and options give the same numbers to the last digit. Every number comes from counts "
        "of people by score, group and outcome."
    )
    paper.facts([
        ("Version", f"Evenhand {document['version']}"), ("Digest of the table", document["data"]["table"]),
        *((k.replace("_", " ").capitalize(), str(v)) for k, v in options.items()),
    ])  # fmt: skip
