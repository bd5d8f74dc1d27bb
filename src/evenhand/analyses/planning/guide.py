"""Which measure to look at, as a function and as questions.

The decision tree of the ExFairness metric specification, and for many classes that of Han, Baldwin & Cohn 2023.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.errors import UsageError, listed, nearest, shown, truth
from evenhand.report.result import Result

PRIORITIES = {
    "opportunity": (
        "equal_opportunity",
        "People with a favourable outcome should have the same chance in every group.",
    ),
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
CLASS_QUESTIONS = {
    "focus": (
        "Is it about how each group fares (per-group), or about differences (between-groups)?",
        ("per-group", "between-groups"),
    ),
    "scale": ("Should differences be absolute or relative?", ("absolute", "relative")),
    "extremes": ("Does the worst group decide (extremes), or do all count (variability)?", ("extremes", "variability")),
    "groups_matter": ("Do groups matter equally, or those worst off most?", ("equally", "worst-most")),
    "classes_matter": (
        "Do classes matter equally, those worst off most, or only one?",
        ("equally", "worst-most", "one"),
    ),
}
_NEEDS_ROWS = ("individual_fairness", "counterfactual_fairness")


@dataclass(frozen=True, repr=False)
class Advice(Result):
    """Which measures fit, and why."""

    measures: tuple[str, ...]
    why: str
    beware: str | None = None

    @property
    def command(self) -> str | None:
        """The command that computes it, where that takes more than naming the measures."""
        return None

    def __str__(self) -> str:
        return str(self._drawn())  # a sentence is not broken into lines


@dataclass(frozen=True, repr=False)
class AggregateAdvice(Advice):
    """How to make one number of many classes and groups, and why."""

    unit: str = "gap"
    across_groups: str = "1"
    across_classes: str = "2"

    @property
    def command(self) -> str:
        one = " --positive CLASS" if self.across_classes == "binary" else ""
        return (
            f"evenhand aggregate DATA --label COL --prediction COL --group COL --unit {self.unit} "
            f"--across-groups={self.across_groups} --across-classes={self.across_classes}{one}"
        )


def guide(
    *,
    ground_truth: bool | None = None,
    priority: str | None = None,
    legal: bool = False,
    classes: bool = False,
    focus: str | None = None,
    scale: str | None = None,
    extremes: bool | None = None,
    groups_matter: str | None = None,
    classes_matter: str | None = None,
) -> Advice:
    """Recommend measures from three answers: are there labels, what matters most, does a legal rule apply.

    Of more than two classes (`classes=True`), recommend how to make one number of them instead: is the `focus` on how
    each group fares ("per-group") or on differences ("between-groups", on an "absolute" or "relative" `scale`); do
    `extremes` count or all groups; do groups and classes matter "equally", those worst off most ("worst-most"), or only
    "one" class.

    >>> print(guide(ground_truth=False))
    Look at: demographic_parity, abcc
    Without labels decisions can be compared, and scores at all thresholds (abcc).
    >>> guide(ground_truth=True, priority="errors").measures
    ('equalized_odds',)
    >>> advice = guide(classes=True, focus="between-groups", scale="absolute", extremes=True)
    >>> advice.command.partition("--unit ")[2]
    'gap --across-groups=inf --across-classes=2'
    """
    answers = {"focus": focus, "scale": scale, "extremes": extremes, "groups_matter": groups_matter,
               "classes_matter": classes_matter}  # fmt: skip
    for word, answer in (("ground_truth", ground_truth), ("extremes", extremes)):
        truth(word, False if answer is None else answer)
    classes, legal = truth("classes", classes), truth("legal", legal)
    said = [name for name, answer in answers.items() if answer is not None]
    if classes:
        if ground_truth is False or priority is not None:
            raise UsageError("of many classes the guide asks for no priority: leave it and ground truth out")
        return _guide_classes(answers, legal)
    if said:
        raise UsageError(f"{listed(said)} {'is' if len(said) == 1 else 'are'} about many classes: say classes=True")
    if ground_truth is None:
        raise UsageError("say whether true outcomes are known: ground_truth=True or False")
    rule = " The four-fifths rule asks for disparate_impact >= 0.8." if legal else ""
    extra = ("disparate_impact",) if legal else ()
    if not ground_truth:
        if priority is not None:
            raise UsageError(
                f"without ground truth there is nothing to choose: leave the priority {shown(priority)} out"
            )
        why = "Without labels decisions can be compared, and scores at all thresholds (abcc)."
        return Advice(("demographic_parity", "abcc", *extra), why + rule)
    if not isinstance(priority, str) or priority not in PRIORITIES:
        raise UsageError(
            f"with ground truth the priority is one of {listed(PRIORITIES)}, not {shown(priority)}"
            f"{nearest(priority, PRIORITIES)}"
        )
    measure, why = PRIORITIES[priority]
    if measure in _NEEDS_ROWS:
        return Advice((measure, *extra), why + rule, "It needs the rows and features of the people, not just counts.")
    beware = (
        "If base rates differ between groups, not all criteria can hold together: read the impossibility section of "
        "the audit before you promise more than one."
    )
    return Advice((measure, *extra), why + rule, beware)


def _taken(answers: Mapping[str, object], legal: bool) -> list[str]:
    """What was taken for an answer that was not given."""
    between = answers["focus"] != "per-group"
    usual = {
        "focus": "between-groups", "scale": "absolute" if between and not legal else None, "extremes": False,
        "groups_matter": None if answers["extremes"] else "equally", "classes_matter": "worst-most",
    }  # fmt: skip
    return [f"{name} = {value}" for name, value in usual.items() if answers[name] is None and value is not None]


def _guide_classes(answers: Mapping[str, object], legal: bool) -> AggregateAdvice:
    """Figure 2 of Han, Baldwin & Cohn 2023: the unit, the exponent over groups, and the one over classes."""
    for name, (question, choices) in CLASS_QUESTIONS.items():
        answer = answers[name]
        if name != "extremes" and answer is not None and answer not in choices:
            raise UsageError(f"{name.replace('_', ' ')} is one of {listed(choices)}, not {shown(answer)}"
                             f"{nearest(answer, choices)} ({question})")  # fmt: skip
    extremes = answers["extremes"]
    if not (extremes is None or isinstance(extremes, bool)):
        raise UsageError(f"extremes is True or False, not {shown(extremes)}")
    if answers["focus"] == "per-group" and answers["scale"] is not None:
        raise UsageError("how each group fares has no scale: leave the scale out, or focus on between-groups")
    if extremes and answers["groups_matter"] is not None:
        raise UsageError("if extremes count, other groups do not matter: leave groups_matter out")
    unit = "score" if answers["focus"] == "per-group" else "gap"
    if unit == "gap" and (answers["scale"] == "relative" or (legal and answers["scale"] is None)):
        unit = "ratio"
    low = unit != "gap"  # where a small value is the worse one
    if extremes:
        groups, why = ("-inf" if low else "inf"), "The group that is worst off decides."
    elif answers["groups_matter"] == "worst-most":
        groups, why = ("-1" if low else "2"), "All groups count, those that are worse off more."
    else:
        groups, why = "1", "All groups count the same."
    matter = answers["classes_matter"] or "worst-most"
    over = {"equally": "1", "worst-most": "-1" if low else "2", "one": "binary"}[str(matter)]
    text = {"score": "How each group fares, whatever the others do.", "gap": "Differences between groups, as they are.",
            "ratio": "Differences between groups, relative, as in the four-fifths rule."}[unit]  # fmt: skip
    last = {"equally": "All classes count the same.", "worst-most": "Classes that are worse off count more.",
            "one": "Only one class matters."}[str(matter)]  # fmt: skip
    beware = "State these choices and the sizes of all classes and groups in your report: the checklist does."
    unsaid = _taken(answers, legal)
    if unsaid:
        beware += f" Not answered, and taken as usual: {', '.join(unsaid)}."
    return AggregateAdvice(("aggregate",), f"{text} {why} {last}", beware, unit, groups, over)
