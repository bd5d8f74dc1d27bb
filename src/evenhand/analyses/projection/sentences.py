"""A projection test in words."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.cells import set_cell_size

from evenhand.errors import shown_name

if TYPE_CHECKING:
    from evenhand.analyses.projection.projection_test import ProjectionTest

WIDTH = 80


def sentence(test: ProjectionTest) -> str:
    name, group, ref = test.criterion.replace("_", " "), shown_name(test.group), shown_name(test.reference)
    gaps = []
    for part in test.labels:
        what = f"{abs(part.gap):.3f} {'higher' if part.gap > 0 else 'lower'} than" if part.gap else "the same as"
        gaps.append(f"{what} {ref} among people with the {part.label} label")
    means = f"{group} score on average " + " and ".join(gaps)
    if test.rejects:
        return f"{name} is rejected at {100 * test.level:g} %: {means}. Chance does not explain that."
    return (
        f"{name} is not rejected at {100 * test.level:g} %: {means}. Chance alone could explain that, which does not "
        "show that the score is fair."
    )


def as_text(document: dict[str, Any]) -> str:
    """The document as a report of 80 columns."""
    data, space = document["data"], document["space"]
    facts = [f"{document['n']:,} people", f"{'logit' if data['logits'] else 'score'} {shown_name(data['score'])}"]
    if data["risk"]:
        facts[1] = "risk " + facts[1]
    facts.append(f"label {shown_name(data['label'])}, favourable {shown_name(data['favorable'])}")
    pair = f"{shown_name(document['attribute'])}: {shown_name(document['group'])} against "
    lines = [
        f"Projection test: {document['criterion'].replace('_', ' ')}",
        pair + shown_name(document["reference"]),
        " · ".join(facts),
    ]
    lines += [f"Left out: {n:,} rows {shown_name(reason, 100)}" for reason, n in data["left_out"].items()]
    lines += ["", f"  {'label':<13}{'group':<21}{'people':>10}{'mean':>8}{'if fair':>9}{'move in logits':>16}"]
    for part in document["labels"]:
        label = part["label"]
        for g in part["groups"]:
            moved = f"{g['move']:+.3f}" if abs(g["move"]) < 1e4 else f"{g['move']:+.3g}"
            numbers = f"{g['n']:>10,}{g['mean']:>8.3f}{g['mean_after']:>9.3f}{moved:>16}"
            lines.append(f"  {label:<13}{set_cell_size(shown_name(g['name'], 20), 20)} {numbers}")
            label = ""
    where = f"in features, ‖β‖ = {document['beta_norm']:.4g}" if space == "features" else "in logits (score space)"
    lines += [
        "",
        f"  statistic {document['statistic']:.4g} · critical value {document['critical_value']:.4g} "
        f"({100 * document['level']:g} %) · p-value {document['p_value']:.3g}",
        f"  distance to the nearest fair distribution {document['distance']:.4g} {where}",
        "",
    ]
    text = document["interpretation"]
    lines += [text[0].upper() + text[1:]]
    if document["notes"]:
        lines += ["", "Notes", *(f"• {shown_name(note, 600)}" for note in document["notes"])]
    wrapped = (textwrap.wrap(line, WIDTH, subsequent_indent="  " if line[:1] in "• " else "") or [""] for line in lines)
    return "\n".join(part for lines_ in wrapped for part in lines_)
