"""The columns that tables of rules may have: what stands in them, of a group of an audit's document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.errors import shown_name
from evenhand.measures.measure import SLACK
from evenhand.measures.unknown_groups import impact_ratio_bounds
from evenhand.report.format import percent
from evenhand.tables.cells import MISSING_GROUP

KINDS = ("groups", "deciles", "strata", "shares", "text")
"""What a table has a row for."""
FOUR_FIFTHS = 0.8
LEVEL = 0.05
"""Below which practice calls a p-value significant, whatever the confidence of intervals."""
INTERVAL = "interval"
"""Of the column before it; its level stands in front."""

Cell = str | float | list[float | None] | None
"""A number, two ends, a text, or why there is no number."""


@dataclass(frozen=True)
class Member:
    """A group of an attribute, as the document of an audit has it."""

    attribute: Mapping[str, Any]
    group: Mapping[str, Any]
    counted: bool
    """Whether everybody counts once, so that numbers of people follow from rates."""
    everybody: int
    """Rows, which is what a group has the number of."""
    clustered: bool
    """Whether several rows may be of one person, so that who is small was told by persons."""

    @property
    def name(self) -> str:
        return str(self.group["name"])

    @property
    def rate(self) -> float | None:
        found: float | None = self.group["rates"]["selection_rate"]["value"]
        return found

    @property
    def excluded(self) -> bool:
        return self.name in [*self.attribute["excluded"]]

    @property
    def is_reference(self) -> bool:
        return self.name == str(self.attribute["reference"])

    @property
    def share(self) -> float:
        """Of all people in the data, those of unknown group too."""
        return float(self.group["n"] / self.everybody)

    @property
    def selected(self) -> int | None:
        return selected(self.group) if self.counted else None

    def measure(self, id_: str) -> Mapping[str, Any] | None:
        """How it compares with the reference, if it does."""
        own = (m for m in self.attribute["measures"] if (m["id"], m["group"]) == (id_, self.name))
        return next(own, None)

    def of(self, id_: str, key: str) -> Any:
        """A number of a comparison; why there is none if it is undefined."""
        m = self.measure(id_)
        if m is None:
            return None
        return f"undefined {m['undefined']}" if m["undefined"] and key in ("value", "signed") else m[key]

    def test(self, name: str) -> float | None:
        m = self.measure("demographic_parity") or self.measure("disparate_impact")
        return next((t["p_value"] for t in m["tests"] if t["name"] == name), None) if m else None


@dataclass(frozen=True)
class Column:
    """A column: its head, what is in it, and of which kind that is."""

    head: str
    kind: str
    cell: Callable[[Member], Cell]


def selected(group: Mapping[str, Any]) -> int | None:
    """How many of a group of people who count once are selected."""
    rate = group["rates"]["selection_rate"]["value"]
    return None if rate is None else round(rate * group["n"])


def _impact_ratio(m: Member) -> Cell:
    if m.excluded:
        return "left out" if m.clustered else f"left out ({percent(m.share, digits=1)})"
    return 1.0 if m.is_reference else m.of("disparate_impact", "value")


def _possible(m: Member) -> Cell:
    """Between what the ratio to the highest lies, whoever the unknown are."""
    told = m.attribute["unknown"]
    if m.excluded or not m.counted:
        return None
    if told is None:
        return "not known"
    if told["undefined"]:
        return f"not known {told['undefined']}"
    compared = [g for g in m.attribute["groups"] if g["name"] not in m.attribute["excluded"]]
    chosen = [selected(g) for g in compared]
    if len(compared) < 2 or None in chosen:
        return None
    found = impact_ratio_bounds(
        [s for s in chosen if s is not None],
        [g["n"] for g in compared],
        told["selected"],
        told["rejected"],
        [g["name"] for g in compared].index(m.name),
    )
    return None if found is None else [*found]


def _beyond(m: Member) -> Cell:
    """Whether a ratio is below four fifths."""
    ratio = m.of("disparate_impact", "value")
    if m.is_reference or not isinstance(ratio, float):
        return None
    return "yes" if ratio < FOUR_FIFTHS - SLACK else "no"


def _significant(m: Member) -> Cell:
    p = m.test("Fisher exact")
    return None if p is None else "yes" if p < LEVEL else "no"


COLUMNS: dict[str, Column] = {
    "category": Column("category", "name", lambda m: m.name),
    "people": Column("people", "count", lambda m: m.group["n"]),
    "share": Column("share of people", "share", lambda m: m.share),
    "selected": Column("selected", "count", lambda m: m.selected),
    "selection_rate": Column("selection rate", "share", lambda m: m.rate),
    "impact_ratio": Column("impact ratio", "ratio", _impact_ratio),
    "ratio_interval": Column(INTERVAL, "ratio", lambda m: m.of("disparate_impact", "ci")),
    "ratio_bounds": Column("possible, given the unknown", "ratio", _possible),
    "difference": Column("difference", "points", lambda m: m.of("demographic_parity", "signed")),
    "difference_interval": Column(INTERVAL, "points", lambda m: m.of("demographic_parity", "ci")),
    "standard_deviations": Column(
        "standard deviations", "deviations", lambda m: m.of("demographic_parity", "standard_deviations")
    ),
    "fisher_p": Column("Fisher exact p", "p", lambda m: m.test("Fisher exact")),
    "odds_ratio": Column("odds ratio", "ratio", lambda m: 1.0 if m.is_reference else m.of("odds_ratio", "value")),
    "odds_ratio_interval": Column(INTERVAL, "ratio", lambda m: m.of("odds_ratio", "ci")),
    "shortfall": Column("shortfall", "people", lambda m: m.of("shortfall", "signed")),
    "shortfall_interval": Column(INTERVAL, "people", lambda m: m.of("shortfall", "ci")),
    "practical": Column("ratio below 0.8", "text", _beyond),
    "statistical": Column("p below 0.05", "text", _significant),
    "smd": Column("SMD", "deviations", lambda m: m.of("standardized_mean_difference", "signed")),
    "smd_interval": Column(INTERVAL, "deviations", lambda m: m.of("standardized_mean_difference", "ci")),
    "residual_smd": Column("residual SMD", "deviations", lambda m: m.of("residual_smd", "signed")),
    "residual_smd_interval": Column(INTERVAL, "deviations", lambda m: m.of("residual_smd", "ci")),
}
"""Every column that a table of groups may have."""


def unknown_note(attribute: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """How many people are in none of the groups of a table, since their category is not known."""
    what = shown_name(attribute["name"])
    if (told := attribute["unknown"]) is not None:
        return f"People of unknown {what}, who are not in this table: {told['n']:,}."
    if own := sum(g["n"] for g in attribute["groups"] if MISSING_GROUP in g["members"]):
        return f"People of unknown {what}, who are in rows of their own, {MISSING_GROUP}: {own:,}."
    gone = sum(n for reason, n in data["left_out"].items() if reason.startswith("without a group"))
    if data["clusters"] is None:  # rows that another group column keeps are in none of the groups of this one
        gone += max(0, data["rows"] - sum(g["n"] for g in attribute["groups"]))
    if gone:
        return f"People of unknown category, whom the data leave out: {gone:,}. How they fared is not known."
    return f"People of unknown {what}: none in the data, which do not say whether there were any."
