"""What the page and the Markdown of a comparison say: which method wins, by what, how sure; then every trade-off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.compare.document import method_name
from evenhand.analyses.compare.repeated import command
from evenhand.analyses.compare.text import conditions, least, most, reasons
from evenhand.errors import shown_name
from evenhand.report.contents import (
    Cell,
    Contents,
    Mood,
    Name,
    Part,
    Points,
    Section,
    Sheet,
    Word,
    capital,
    count,
    figure,
    joined,
    several,
    share,
)
from evenhand.report.format import interval, number

MOST_METHODS = 100
FEW_METHODS = 12
"""Up to so many methods, what each criterion selects is shown."""
ACROSS = 8
"""So many methods side by side."""
MOST_WINS = 40
MOST_FRONT = 100
SURE = 0.95
CLOSE = 0.01
"""Areas that differ by less have a digit more."""
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """Methods by their trade-offs, the best first."""
    answer, mood = answered(document)
    return Contents(
        title="Comparison of methods",
        about=list(_about(document)),
        answer=answer,
        said=[document["interpretation"], *_sure(document)],
        mood=mood,
        sections=list(sections(document)),
        notes=document["notes"],
        command=command(document),
        options={**document["data"]["columns"], "settings": document["data"]["setting_columns"], **document["options"]},
    )


def answered(document: Document) -> tuple[str, Mood]:
    """Which method it is, in a line."""
    methods = document["methods"]
    first = [m for m in methods if m["rank"] == 1]
    if len(methods) == 1:
        return f"{method_name(methods[0]['name'])} is the only method", "plain"
    if len(first) > 1:
        return f"{joined(m['name'] for m in first)} share the first place", "plain"
    sure = _first_share(first[0])
    doubt = "" if sure is None or sure >= SURE else ", but not for certain"
    return f"{method_name(first[0]['name'])} trades best{doubt}", "warn" if doubt else "good" if sure else "plain"


def _first_share(m: Document) -> float | None:
    """In how many resamples it is the first, by what methods are ranked by."""
    found: float | None = m["first_share"] if m["auc_pfc"] is not None else m["selected"]["dto"]["first_share"]
    return found


def _sure(document: Document) -> Iterator[str]:
    """How far the first is ahead of the second."""
    ranked = document["methods"][:2]
    if len(ranked) < 2 or ranked[1]["rank"] == 1:
        return
    first, second = ranked
    if first["auc_pfc"] is not None and second["auc_pfc"] is not None:
        ahead = first["auc_pfc"] - second["auc_pfc"]
        digits = 3 if ahead >= CLOSE else 4
        areas = [f"{number(m['auc_pfc'], digits=digits)}{_between(m['ci'], digits)}" for m in ranked]
        more = f"{number(ahead, digits=digits)} more than that of {method_name(second['name'])}"
        yield f"Its area is {areas[0]}, {more}: {areas[1]}."
    own, other = first["selected"]["dto"], second["selected"]["dto"]
    if own["performance"] is not None and other["performance"] is not None:
        yield (
            f"Selected by distance to the optimum, it has performance {number(own['performance'])} and fairness "
            f"{number(own['fairness'])}; {method_name(second['name'])} has {number(other['performance'])} and "
            f"{number(other['fairness'])}."
        )


def _between(ci: Any, digits: int) -> str:
    return "" if ci is None else f" (interval {interval(ci, digits=digits)})"


def _about(document: Document) -> Iterator[str]:
    data = document["data"]
    columns, (low, high) = data["columns"], data["seeds"]
    seeds = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    yield several(data["runs"], "run")
    yield several(len(document["methods"]), "method")
    yield several(data["settings"], "setting")
    yield f"{seeds} run{'' if high == 1 else 's'} each"
    if data["left_out"]:
        yield f"left out: {several(data['left_out'], 'run')} without results"
    turned = {r: "" if up else "1 − " for r, up in data["higher_is_better"].items()}
    yield f"performance: {turned['performance']}{shown_name(columns['performance'])}"
    yield f"fairness: {turned['fairness']}{shown_name(columns['fairness'])}"


def sections(document: Document, about: str = "") -> Iterator[Section]:
    """The tables; `about` ends their captions, where there are several comparisons on a page."""
    yield Section("ranking", "Methods, the best first", list(_ranking(document, about)))
    yield Section("selected", "Selected models", list(_selected(document, about)))
    if document["wins"] and len(document["methods"]) > 1:
        yield Section("wins", "Fairest at a given performance", [_wins(document, about)])
    yield Section("front", "Every trade-off on the fronts", [_front(document, about)], minor=True)


def _ranking(document: Document, about: str) -> Iterator[Part]:
    """By area, and by the model that is nearest to the optimum."""
    options, methods = document["options"], document["methods"]
    with_area, partial = options["random_performance"] is not None, conditions(options)
    level = f"{100 * options['confidence']:g}% interval"
    heads, some = ["method", "rank"], any(_first_share(m) is not None for m in methods)
    if with_area:
        heads += ["area", level, *(["partial area"] if partial else [])]
    heads += [*(["first in resamples"] if some else []), "distance"]
    rows: list[list[Cell]] = []
    for m in methods[:MOST_METHODS]:
        row: list[Cell] = [Name(method_name(m["name"])), count(m["rank"])]
        if with_area:
            row += [_best(m["auc_pfc"], most(methods, "auc_pfc")), interval(m["ci"])]
            row += [_best(m["partial_auc_pfc"], most(methods, "partial_auc_pfc"))] if partial else []
        row += [share(_first_share(m), digits=0)] if some else []
        rows.append([*row, _best(m["selected"]["dto"]["dto"], least(methods, "dto"))])
    x, y = options["utopia"]
    legend = "Area: under the front of fairness over performance, the more the better. " if with_area else ""
    legend += f"The partial area is where {partial}. " if with_area and partial else ""
    legend += f"Distance: of the selected model to the optimum ({x:g}, {y:g}), the less the better. *: the best."
    yield Sheet(f"Areas and distances{about}", heads, rows, legend=legend)
    if hidden := len(methods) - len(rows):
        yield f"{several(hidden, 'more method')} {'is' if hidden == 1 else 'are'} in the JSON."
    if len(document["criteria"]) > 1:
        yield _criteria(document, about)
    if lines := [capital(line.removeprefix("– ")) for line in reasons(methods[:MOST_METHODS], with_area)]:
        yield Points(lines)


def _criteria(document: Document, about: str) -> Sheet:
    """Criteria by methods, as Table 3 of Han, Baldwin & Cohn 2023, turned."""
    methods = document["methods"][:ACROSS]
    rows: list[list[Cell]] = [
        [
            capital(k["meaning"]),
            *(_best(m["selected"][k["id"]]["dto"], least(document["methods"], k["id"])) for m in methods),
        ]
        for k in document["criteria"]
    ]
    hidden = len(document["methods"]) - len(methods)
    legend = f"The first {ACROSS} methods; *: the best of all." if hidden else "*: the best."
    heads = ["selected by", *(method_name(m["name"]) for m in methods)]
    return Sheet(f"Distance of what each criterion selects{about}", heads, rows, legend=legend)


def _best(value: float | None, mark: float | None) -> Cell:
    known = figure(value)
    return Word(f"{known.text}*", "good") if value is not None and value == mark else known


def _selected(document: Document, about: str) -> Iterator[Part]:
    """What is selected, as Table 5 of Han, Baldwin & Cohn 2023."""
    methods, options = document["methods"][:MOST_METHODS], document["options"]
    few = len(methods) <= FEW_METHODS
    dev = document["data"]["columns"]["dev_performance"] is not None
    level = f"{100 * options['confidence']:g}% interval"
    heads = ["method", "setting", "performance", "fairness", "distance", level]
    heads += ["distance on development data"] * dev
    rows: list[list[Cell]] = []
    for k in document["criteria"] if few else document["criteria"][:1]:
        rows.append([f"By {k['meaning']}"])
        for m in methods:
            s = m["selected"][k["id"]]
            own: list[Cell] = [figure(s["dev"]["dto"] if s["dev"] else None)] if dev else []
            rows.append([
                Name(method_name(m["name"])), _setting(s["settings"]), _spread(s["performance"], s["performance_sd"]),
                _spread(s["fairness"], s["fairness_sd"]), figure(s["dto"]), interval(s["ci"]), *own,
            ])  # fmt: skip
    results = "test results, " if dev else ""
    yield Sheet(f"Means and standard deviations over seeds{about} ({results}by criterion)", heads, rows, ("setting",))


def _spread(mean: float | None, sd: float | None) -> Cell:
    return number(mean) + (f" ± {number(sd)}" if mean is not None and sd is not None else "")


def _setting(settings: dict[str, Any] | None) -> str:
    return ", ".join(f"{shown_name(name, 24)} {shown_name(value, 24)}" for name, value in (settings or {}).items())


def _wins(document: Document, about: str) -> Sheet:
    """Whose curve is highest where."""
    widest = sorted(document["wins"], key=lambda w: w["from"] - w["to"])[:MOST_WINS]
    rows: list[list[Cell]] = [
        [f"{number(w['from'])} to {number(w['to'])}", joined(w["methods"], 4)] for w in document["wins"] if w in widest
    ]
    more = len(document["wins"]) - len(rows)
    legend = f"The {MOST_WINS} widest of {len(document['wins']):,} stretches." if more else None
    return Sheet(f"Whose curve is highest{about}", ("performance", "method"), rows, ("method",), legend)


def _front(document: Document, about: str) -> Sheet:
    rows: list[list[Cell]] = [
        [
            Name(method_name(m["name"])), _setting(p["settings"]), figure(p["performance"]), figure(p["fairness"]),
            figure(p["dto"]), count(p["seeds"]),
        ]
        for m in document["methods"][:MOST_METHODS]
        for p in m["front"][:MOST_FRONT]
    ]  # fmt: skip
    heads = ("method", "setting", "performance", "fairness", "distance", "runs")
    return Sheet(f"Settings on the front of their method{about}", heads, rows, ("setting",), sortable=True)
