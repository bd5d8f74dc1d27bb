"""A projection test → its JSON document, and a dataframe of where people go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.analyses.projection.shifts import LABELS
from evenhand.analyses.projection.steps import arrows
from evenhand.errors import shown_name
from evenhand.report.document import fields, header
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.projection.results import LabelProjection, ProjectionTest
    from evenhand.analyses.projection.several import ProjectionTests


def document(test: ProjectionTest) -> dict[str, Any]:
    """The result as plain values."""
    return {
        **header("projection"),
        **fields(test, "criterion margin statistic theta critical_value p_value p_method p_limit"),
        **fields(test, "p_permuted p_within gamma rejects level"),
        **fields(test, "attribute group reference n accuracy beta_norm space distance"),
        "labels": [_label(part, (test.group, test.reference)) for part in test.labels],
        "arrows": arrows(test),
        "ranges": None if test.ranges is None else fields(test.ranges, "means p_values"),
        "data": dict(test.data),
        "interpretation": sentence(test),
        "notes": list(test.notes),
    }


def documents(found: ProjectionTests) -> dict[str, Any]:
    """All tests as plain values."""
    tests = zip(found.tests, found.p_adjusted, found.rejects, strict=True)
    first = found.tests[0]
    return {
        **header("projections"),
        **fields(first, "criterion margin level attribute reference"),
        "along": None if found.along is None else {"name": found.along.name, "values": list(found.along.values)},
        "tests": [
            {
                **document(test),
                "interpretation": sentence(test, rejects),
                "p_adjusted": p,
                "rejects_adjusted": rejects,
            }
            for test, p, rejects in tests
        ],
        "interpretation": sentence_of_all(found),
        "notes": [note for note in first.notes if all(note in test.notes for test in found.tests)],
    }


def _label(part: LabelProjection, names: tuple[str, str]) -> dict[str, Any]:
    groups = zip(names, part.people, part.as_given(), part.largest, part.steps, strict=True)
    return {
        **fields(part, "label gap statistic theta slack gamma"),
        "groups": [
            {
                "name": name, "n": n, "mean": mean, "mean_after": after, "move": move, "largest_move": largest,
                "steps": [dict(zip(("low", "high", "before", "after"), step, strict=True)) for step in steps],
            }
            for name, n, (mean, after, move), largest, steps in groups
        ],
    }  # fmt: skip


def sentence(test: ProjectionTest, adjusted: bool = True) -> str:
    """The finding in a sentence or two, and who would have to move how far.

    `adjusted` says whether a rejection is one among other tests, too.
    """
    return f"{_finding(test, adjusted)} {' '.join(_moves(test))}"


def _moves(test: ProjectionTest) -> Iterator[str]:
    """For each label: by how much the scores of both groups would have to change, in percentage points."""
    if not test.statistic:
        yield "Nobody's score would have to change."
        return
    fair = f"To be within {test.margin:g}" if test.margin else "To be fair"
    for part in test.labels:
        if not part.statistic:
            yield f"Nobody with the {part.label} label would have to move."
            continue
        among = "" if part.label == LABELS[None] else f" with the {part.label} label"
        told = []
        sides = zip((test.group, test.reference), part.people, part.as_given(), part.largest, strict=True)
        for name, n, (mean, after, _), largest in sides:
            way = ("higher" if after > mean else "lower") if part.risk else ("more" if after > mean else "less")
            told.append((n, shown_name(name), points(after - mean), way, points(largest)))
        (one, first, move, way, most), (other, second, move_2, way_2, most_2) = told
        who = f"{one:,} {'person' if one == 1 else 'people'} of {first}{among}"
        yield (
            f"{fair}, {who} would need {'a risk ' if part.risk else ''}on average {move} percentage points {way} "
            f"(the largest move is {most}), {other:,} of {second} {move_2} {way_2} ({most_2})."
        )


def points(change: float, sign: bool = False) -> str:
    """A change of a probability in percentage points, with or without its sign.

    >>> points(-0.0414), points(0.04, sign=True), points(0.00021)
    ('4.1', '+4.0', '0.021')
    """
    percent = 100 * (change if sign else abs(change))
    return f"{percent:{'+' if sign else ''}{'.1f' if abs(percent) >= 0.1 else '.2g'}}"


def _finding(test: ProjectionTest, adjusted: bool) -> str:
    """What the test says."""
    name, group, ref = test.criterion.replace("_", " "), shown_name(test.group), shown_name(test.reference)
    name += f" within {test.margin:g}" if test.margin else ""
    gaps = []
    for part in test.labels:
        among = "" if part.label == LABELS[None] else f" among people with the {part.label} label"
        gaps.append(f"{_compared(part)} {ref}{among}")
    means = f"{group} {'are given a risk' if test.data['risk'] else 'score'} on average " + " and ".join(gaps)
    if test.ranges is not None and test.ranges.p_values[0] < test.level <= test.ranges.p_values[1]:
        return (
            f"whether {name} is rejected at {100 * test.level:g} % cannot be told: {means}, but scores are known in "
            "ranges, and these decide. Test the scores themselves."
        )
    sure = f"{100 - 100 * test.level:g} % confidence"
    if test.is_within:
        return (
            f"{name} holds with {sure}: {means}, which is less than {test.margin:g}, and chance does not explain that."
        )
    if test.margin and not test.rejects:
        return f"whether there is {name} cannot be told with {sure}: {means}. It takes more people."
    if test.rejects and not adjusted:
        return (
            f"{name} is rejected at {100 * test.level:g} % by itself, but not among all of these tests (adjusted by "
            f"Holm): {means}. In one of so many tests chance alone could show that."
        )
    if test.rejects:
        return f"{name} is rejected at {100 * test.level:g} %: {means}. Chance does not explain that."
    return (
        f"{name} is not rejected at {100 * test.level:g} %: {means}. Chance alone could explain that, which does not "
        "show that the score is fair."
    )


def sentence_of_all(found: ProjectionTests) -> str:
    """The finding in a sentence or two."""
    first = found.tests[0]
    name = first.criterion.replace("_", " ") + (f" within {first.margin:g}" if first.margin else "")
    rejected = [who for who, rejects in zip(_who(found), found.rejects, strict=True) if rejects]
    whom = f"{len(found.tests)} comparisons with {shown_name(first.reference)}, adjusted by Holm"
    at = f"{whom}, at {100 * first.level:g} %"
    found_out = f"{name} is rejected in {len(rejected)} of {at}: for {', '.join(rejected)}."
    if not rejected:
        found_out = f"{name} is rejected in none of {at}, which does not show that the score is fair."
    within = [who for who, test in zip(_who(found), found.tests, strict=True) if test.is_within]
    sure = f"{100 - 100 * first.level:g} % confidence"
    return f"{found_out} It holds, each by itself, with {sure} for {', '.join(within)}." if within else found_out


def _who(found: ProjectionTests) -> list[str]:
    """Each test by its group, and by its score, or the number that tells the scores apart."""
    groups = [shown_name(test.group) for test in found.tests]
    scores = [test.data["score"] for test in found.tests]
    if found.along is not None:
        at = f" at {shown_name(found.along.name)}"
        return [f"{group}{at} {value:g}" for group, value in zip(groups, found.along.values, strict=True)]
    if len(set(scores)) > 1:
        return [f"{group} by {shown_name(score)}" for group, score in zip(groups, scores, strict=True)]
    return groups


def _compared(part: LabelProjection) -> str:
    """How the group's mean compares with its reference's, in the direction of the score given."""
    if not part.gap:
        return "the same as"
    if part.risk:  # who is given the lower risk is favoured
        return f"{abs(part.gap):.3f} {'lower (more favourable)' if part.gap > 0 else 'higher (less favourable)'} than"
    return f"{abs(part.gap):.3f} {'higher' if part.gap > 0 else 'lower'} than"


def frame(test: ProjectionTest, library: str | None) -> Any:
    """The shifts, one row each."""
    columns = {k: list(v) for k, v in test.shifts.items()}
    kinds = {**dict.fromkeys(columns, "float"), "group": "str"} | ({"label": "str"} if "label" in columns else {})
    return plain_frame(columns, kinds, library)
