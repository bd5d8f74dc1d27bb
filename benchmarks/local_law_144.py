"""Published bias audits under New York City Local Law 144, run again from their counts.

    python benchmarks/local_law_144.py ll144_audits.csv

prints the tables of docs/reproduced/what-published-audits-did-not-say.md. The file is that of the study "Auditing the
audits" (2025): categories, numbers of people and published ratios of 116 audits. A table of an audit goes through the
profile `nyc-ll144` as people who are counted by category and decision, without the categories whose ratio the auditor
left out.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import evenhand
from evenhand.analyses.profiles.shipped import profile_named
from evenhand.measures.unknown_groups import impact_ratio_bounds

KEY = (
    "audit_id", "selection_or_scoring_rate", "protected_char_group", "position", "tool_id", "year_of_audit_result",
)  # fmt: skip
CATEGORIES = {"sex": ["sex"], "race/ethnicity": ["race"], "intersectional": ["sex", "race"]}
CLOSE = 0.02
COUNTED = 0.006
"""Rates of two digits may be so far from those of their counts."""
FOUR_FIFTHS = 0.8
UNKNOWN, TOTAL = "Missing/Unknown", "Total"
HALF = 0.005
"""Half a unit of the last digit of most rates and ratios."""
SPLITS = 200
"""Ways to say how many of the unknown people were selected, of which the worst is taken."""


@dataclass(frozen=True)
class Row:
    """A category of a published table."""

    members: tuple[str, ...]
    people: int
    selected: int
    printed: float
    """Its rate as it is in the data,"""
    ratio: float
    """and its impact ratio as it was published."""


@dataclass(frozen=True)
class Published:
    """A published table, as far as its counts and ratios are known."""

    audit: str
    auditor: str
    kind: str
    tool: str
    categories: str
    rows: tuple[Row, ...]
    unknown: int | None

    @property
    def rates(self) -> list[float]:
        return [row.selected / row.people for row in self.rows]

    @property
    def ratios(self) -> list[float]:
        """Each rate over the highest."""
        highest = max(self.rates)
        return [rate / highest if highest else float("nan") for rate in self.rates]


def read(path: str | Path) -> list[Published]:
    """Every table of the file; those with fewer than two published ratios and counts have fewer than two rows."""
    with open(path, encoding="utf-8", newline="") as file:
        tables: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for line in csv.DictReader(file):
            tables.setdefault(tuple(line[name] for name in KEY), []).append(line)
    return [_table(lines) for lines in tables.values()]


def _table(lines: list[dict[str, str]]) -> Published:
    first = lines[0]
    categories = first["protected_char_group"]
    rows = tuple(row for line in lines if (row := _row(line, categories)) is not None)
    unknown = _number(first["n_miss"])
    return Published(
        first["audit_id"], first["auditor"], first["selection_or_scoring_rate"], first["tool_id"], categories, rows,
        None if unknown is None else int(unknown),
    )  # fmt: skip


def _row(line: dict[str, str], categories: str) -> Row | None:
    """A category with people, a number of selected and a published ratio, in the table that it belongs to."""
    sex, race = line["sex"], line["race_ethnicity"]
    people, selected = _number(line["number_of_applications"]), _number(line["n_selected_or_n_above_median"])
    ratio, rate = _number(line["impact_ratio"]), _number(line["result"])
    fits = (sex == TOTAL) == (categories == "race/ethnicity") and (race == TOTAL) == (categories == "sex")
    if UNKNOWN in (sex, race) or not fits or not people or selected is None or ratio is None or rate is None:
        return None
    members = {"sex": (sex,), "race/ethnicity": (race,), "intersectional": (sex, race)}[categories]
    return Row(members, int(people), round(selected), rate, ratio)


def _number(text: str) -> float | None:
    return None if text in ("NA", "") else float(text)


def known(tables: Iterable[Published]) -> list[Published]:
    """The tables of which two or more categories have counts and a ratio, of each column that is crossed."""
    return [
        t
        for t in tables
        if t.rows and all(len({*names}) > 1 for names in zip(*(r.members for r in t.rows), strict=True))
    ]


def audited(table: Published) -> dict[tuple[str, ...], dict[str, Any]]:
    """What the profile says of each category, from counts alone: the cells of its tables, by their columns."""
    columns = CATEGORIES[table.categories]
    people: dict[str, list[Any]] = {name: [] for name in (*columns, "selected", "people")}
    for row in table.rows:
        for decision, n in ((1, row.selected), (0, row.people - row.selected)):
            if n:
                for name, member in zip(columns, row.members, strict=True):
                    people[name].append(member)
                people["selected"].append(decision)
                people["people"].append(n)
    names = {"sex": "sex", "race": "race/ethnicity"}
    found = evenhand.audit(
        people, prediction="selected", group=columns, weight="people", weight_kind="frequency", bootstrap=0,
        permutations=0, exclude_below=0.0, profile=profile_named("nyc-ll144").about(*(names[c] for c in columns)),
    ).to_dict()  # fmt: skip
    attribute = next(a for a in found["attributes"] if a["columns"] == columns)
    members = {g["name"]: tuple(g["members"]) for g in attribute["groups"]}
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    for made in found["profile"]["tables"]:
        if made["attribute"] == attribute["name"]:
            heads = [column["id"] for column in made["columns"]]
            for row in made["rows"]:
                cells.setdefault(members[row[0]], {}).update(zip(heads, row, strict=True))
    return cells


# ---- ratios that do not follow from the rates beside them ------------------------------------------------------------


def furthest(table: Published, cells: dict[tuple[str, ...], dict[str, Any]]) -> float:
    """How far a published ratio is from the one that the profile gives, at most."""
    return max(abs(float(cells[row.members]["impact_ratio"]) - row.ratio) for row in table.rows)


def reason(table: Published) -> str:
    """Why the published ratios are others: counts that do not give the rates, or other rates than the highest."""
    apart = max(table.rows, key=lambda row: abs(row.selected / row.people - row.printed))
    if abs((rate := apart.selected / apart.people) - apart.printed) > COUNTED:
        return (
            f"counts and rates disagree: {apart.selected:,} of {apart.people:,} {_who(apart)} are {rate:.2f}, and "
            f"the rate beside them {apart.printed:.2f}"
        )
    base = max((row for row in table.rows if abs(row.ratio - 1) < COUNTED), key=lambda row: row.printed)
    highest = max(table.rows, key=lambda row: row.printed)
    said = []
    if highest.printed - base.printed > COUNTED:
        said = [
            f"ratios are to {_who(base)} ({base.printed:.2f}), and {_who(highest)} has the highest rate "
            f"({highest.printed:.2f})"
        ]
    wrong = [row for row in table.rows if abs(row.printed / base.printed - row.ratio) > CLOSE]
    if wrong:
        worst = max(wrong, key=lambda row: abs(row.printed / base.printed - row.ratio))
        said.append(
            f"{len(wrong)} of {len(table.rows)} ratios do not follow from the rates beside them: {_who(worst)} "
            f"{worst.printed:.3g} ÷ {base.printed:.3g} is {worst.printed / base.printed:.2f}, printed {worst.ratio:.2f}"
        )
    return "; ".join(said) or "the rates beside the ratios give these, the counts just not"


def _who(row: Row) -> str:
    return " ".join(row.members)


def unexplained(tables: Iterable[Published]) -> dict[str, int]:
    """How many ratios do not follow from counts, and of how many the rounding of the rates beside them may be why."""
    n = Counter[str]()
    for table in known(map(compared, known(tables))):
        base = max((row.printed for row in table.rows if abs(row.ratio - 1) < COUNTED), default=max(table.rates))
        for row, ratio in zip(table.rows, table.ratios, strict=True):
            if abs(ratio - row.ratio) > CLOSE:
                low, high = ((row.printed + off) / (base - off) + off for off in (-HALF, HALF))
                n["ratios that do not follow from counts"] += 1
                n["ratios that do not, but may by rounding of rates"] += low <= row.ratio <= high
    return dict(n)


# ---- what nobody said ------------------------------------------------------------------------------------------------


def least(table: Published, like_others: bool) -> float | None:
    """The least that a ratio of the table could be, given the unknown people; None if their number is not known.

    How many of them were selected is not published: as many as of the others, or whatever is worst.
    """
    if table.unknown is None:
        return None
    selected, people = [row.selected for row in table.rows], [row.people for row in table.rows]
    share = sum(selected) / sum(people)
    splits = [round(share * table.unknown)] if like_others else _splits(table.unknown)
    found = (
        impact_ratio_bounds(selected, people, yes, table.unknown - yes, place)
        for yes in splits
        for place in range(len(people))
    )
    return min(bounds[0] for bounds in found if bounds is not None)


def _splits(unknown: int) -> list[int]:
    return sorted({round(unknown * i / SPLITS) for i in range(SPLITS + 1)})


def compared(table: Published) -> Published:
    """The table without categories that were not compared: those whose ratio is above 1 were no comparison either."""
    return replace(table, rows=tuple(row for row in table.rows if row.ratio <= 1))


def figures(tables: list[Published]) -> dict[str, int]:
    """All numbers of the page: about ratios that are below four fifths, and about tables and audits without such."""
    n = Counter[str]()
    n["audits"] = len({t.audit for t in tables})
    n["tables"], n["tables with counts and two ratios"] = len(tables), len(known(tables))
    low: dict[str, list[tuple[float, float | None, float | None]]] = {}
    for table in known(map(compared, known(tables))):
        cells = audited(table)
        for row in table.rows:
            _count(row, cells[row.members], n)
        worst = min(row.ratio for row in table.rows)
        follows = furthest(table, cells) <= CLOSE
        n["tables all of whose ratios follow from counts"] += follows
        like, any_ = (least(table, True), least(table, False)) if follows else (None, None)
        low.setdefault(table.audit, []).append((worst, like, any_))
        _count_unknown("tables", [(worst, like, any_)], n)
    for found in low.values():
        _count_unknown("audits", found, n)
    return dict(n)


def _count(row: Row, cell: dict[str, Any], n: Counter[str]) -> None:
    ends = cell["ratio_interval"]
    n["ratios"] += 1
    follows = abs(cell["impact_ratio"] - row.ratio) <= CLOSE
    n["ratios that follow from counts"] += follows
    n["ratios below 0.8"] += row.ratio < FOUR_FIFTHS
    if ends is None or not follows:
        return
    if row.ratio < FOUR_FIFTHS:
        n["ratios below 0.8 that follow from counts"] += 1
        n["ratios below 0.8 whose interval reaches 0.8"] += ends[1] >= FOUR_FIFTHS
        n["ratios below 0.8 of fewer than 30 people"] += row.people < 30
    else:
        n["ratios from 0.8 that follow from counts"] += 1
        n["ratios from 0.8 whose interval reaches below 0.8"] += ends[0] < FOUR_FIFTHS


def _count_unknown(what: str, found: list[tuple[float, float | None, float | None]], n: Counter[str]) -> None:
    """Whether something without a ratio below four fifths could have one, given its unknown people."""
    if any(worst < FOUR_FIFTHS for worst, _, _ in found):
        n[f"{what} with a ratio below 0.8"] += 1
        return
    told = [(like, any_) for _, like, any_ in found if like is not None and any_ is not None]
    n[f"{what} with no ratio below 0.8"] += 1
    n[f"{what} with none, unknown people told, following from counts"] += bool(told)
    n[f"{what} with none that could have one, unknown selected like others"] += any(
        like < FOUR_FIFTHS for like, _ in told
    )
    n[f"{what} with none that could have one, whoever was selected"] += any(any_ < FOUR_FIFTHS for _, any_ in told)


def differing(tables: list[Published]) -> list[tuple[Published, float, str]]:
    """The tables whose published ratios are others than those of the profile, how far they are off, and why."""
    found = ((t, furthest(t, audited(t))) for t in known(tables))
    return [(t, far, reason(t)) for t, far in found if far > CLOSE]


def page(tables: list[Published]) -> Iterator[str]:
    """The tables of the page in Markdown."""
    others = [t for t in tables if "DCI" not in t.auditor]
    yield f"All auditors but DCI: {len(others)} tables, {len(known(others))} with counts.\n"
    yield "| audit | tool | table | off by | why |\n|---|---|---|---|---|"
    for table, far, why in differing(others):
        yield f"| {table.audit} | {table.tool} | {table.categories} | {far:.2f} | {why} |"
    yield "\n| what | number |\n|---|--:|"
    yield from (f"| {what} | {n:,} |" for what, n in sorted((figures(tables) | unexplained(tables)).items()))


if __name__ == "__main__":
    print("\n".join(page(read(sys.argv[1]))))
