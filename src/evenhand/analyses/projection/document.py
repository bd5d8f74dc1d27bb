"""A projection test → its JSON document, and a dataframe of where people go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.errors import shown_name
from evenhand.report.document import fields, header
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.projection.results import LabelProjection, ProjectionTest

_TYPES = {
    "score": "float", "group": "str", "label": "str", "n": "float", "logit": "float", "shifted_logit": "float",
    "k": "float", "shifted_score": "float",
}  # fmt: skip


def document(test: ProjectionTest) -> dict[str, Any]:
    """The result as plain values."""
    return {
        **header("projection"),
        **fields(
            test, "criterion statistic theta critical_value p_value gamma rejects level attribute group reference"
        ),
        **fields(test, "n beta_norm space distance"),
        "labels": [_label(part, (test.group, test.reference)) for part in test.labels],
        "data": dict(test.data),
        "interpretation": sentence(test),
        "notes": list(test.notes),
    }


def _label(part: LabelProjection, names: tuple[str, str]) -> dict[str, Any]:
    pairs = zip(names, part.people, part.means, part.means_after, part.moves, strict=True)
    return {
        **fields(part, "label gap statistic theta gamma"),
        "groups": [
            {"name": name, "n": n, "mean": mean, "mean_after": after, "move": move}
            for name, n, mean, after, move in pairs
        ],
    }


def sentence(test: ProjectionTest) -> str:
    """The finding in a sentence or two."""
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


def frame(test: ProjectionTest, library: str | None) -> Any:
    """The shifts, one row each."""
    return plain_frame({k: list(v) for k, v in test.shifts.items()}, _TYPES, library)
