"""Which measure to look at: 001's decision tree, as a function and as questions."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.errors import UsageError, listed, nearest, shown

PRIORITIES = {
    "opportunity": ("equal_opportunity", "Deserving people should have the same chance in every group."),
    "errors": ("equalized_odds", "Both kinds of error matter: wrongly refused and wrongly accepted."),
    "meaning": ("predictive_parity", "A favourable decision should mean the same for every group."),
    "probability": ("calibration_gap", "The same score should mean the same chance in every group."),
    "individuals": ("individual_fairness", "Similar people should be treated alike, whatever their group."),
    "causes": ("counterfactual_fairness", "The decision should not change had the person been in another group."),
}
QUESTIONS = {
    "ground_truth": "Do you know the true outcome of the people (labels)?",
    "priority": "What matters most?",
    "legal": "Does a law or rule such as the four-fifths rule apply?",
}
_NEEDS_ROWS = ("individual_fairness", "counterfactual_fairness")


@dataclass(frozen=True)
class Advice:
    """Which measures fit, and why."""

    measures: tuple[str, ...]
    why: str
    beware: str | None = None

    def __str__(self) -> str:
        lines = [f"Look at: {', '.join(self.measures)}", self.why]
        return "\n".join(lines + ([self.beware] if self.beware else []))


def guide(*, ground_truth: bool, priority: str | None = None, legal: bool = False) -> Advice:
    """Recommend measures from three answers: are there labels, what matters most, does a legal rule apply.

    >>> print(guide(ground_truth=False, legal=True))
    Look at: demographic_parity, disparate_impact
    Without labels only the decisions themselves can be compared. The four-fifths rule asks for disparate_impact >= 0.8.
    >>> guide(ground_truth=True, priority="errors").measures
    ('equalized_odds',)
    """
    rule = " The four-fifths rule asks for disparate_impact >= 0.8." if legal else ""
    extra = ("disparate_impact",) if legal else ()
    if not ground_truth:
        if priority is not None:
            raise UsageError(
                f"without ground truth there is nothing to choose: leave the priority {shown(priority)} out"
            )
        why = "Without labels only the decisions themselves can be compared."
        return Advice(("demographic_parity", *extra), why + rule)
    if not isinstance(priority, str) or priority not in PRIORITIES:
        raise UsageError(
            f"with ground truth the priority is one of {listed(PRIORITIES)}, not {shown(priority)}"
            f"{nearest(str(priority), PRIORITIES)}"
        )
    measure, why = PRIORITIES[priority]
    if measure in _NEEDS_ROWS:
        return Advice((measure, *extra), why + rule, "It needs the rows and features of the people, not just counts.")
    beware = (
        "If base rates differ between groups, not all criteria can hold together: read the impossibility section of "
        "the audit before you promise more than one."
    )
    return Advice((measure, *extra), why + rule, beware)
