"""Which measure to look at, as a function and as questions.

The decision tree of the ExFairness metric specification, and for many classes that of Han, Baldwin & Cohn 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.analyses.planning.advice import Advice as Advice, AggregateAdvice as AggregateAdvice
from evenhand.errors import UsageError, listed, nearest, shown, truth

# What matters most → the measures, and why.
_ANYWAY: dict[str, tuple[tuple[str, ...], str]] = {
    "individuals": (("individual_fairness",), "Similar people should be treated alike, whatever their group."),
    "causes": (("counterfactual_fairness",), "The decision should not change had the person been in another group."),
}
PRIORITIES: dict[str, tuple[tuple[str, ...], str]] = {
    "opportunity": (
        ("equal_opportunity",),
        "People with a favourable outcome should have the same chance in every group.",
    ),
    "errors": (("equalized_odds",), "Both kinds of error matter: wrongly refused and wrongly accepted."),
    "meaning": (("predictive_parity",), "A favourable decision should mean the same for every group."),
    "probability": (("calibration_gap",), "The same score should mean the same chance in every group."),
    **_ANYWAY,
}
WITHOUT_TRUTH: dict[str, tuple[tuple[str, ...], str]] = {
    "decisions": (
        ("demographic_parity",),
        "Every group should receive the favourable decision equally often.",
    ),
    "scores": (
        ("demographic_parity", "abcc"),
        "Without outcomes, decisions at the threshold in use can be compared (demographic_parity), and scores at all "
        "thresholds together (abcc): how far people are apart, whatever the threshold will be.",
    ),
    "shape": (
        ("demographic_parity", "abcc", "abpc"),
        "Scores should be distributed identically: abpc says how many people are scored differently, however near, "
        "and abcc how far people are apart.",
    ),
    **_ANYWAY,
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
_ANALYSES = {"individuals": ("individual", ("score", "group")),
             "causes": ("counterfactual", ("model", "attribute", "graph"))}  # fmt: skip
_ROWS = {
    "individuals": "It needs rows with the features of people, not just counts, and a distance between people that "
    "you can defend.",
    "causes": "It needs rows with the features of people, the model, and a causal graph that you can defend: without "
    "one only the attribute is flipped.",
}
_NO_TRUTH = (
    "Without outcomes nobody can tell whether unequal shares are mistakes: a random decision satisfies demographic "
    "parity, and a perfect one need not."
)
_TRUTH = (
    "If base rates differ between groups, not all criteria can hold together: read the impossibility section of "
    "the audit before you promise more than one."
)
_RULE = " The four-fifths rule asks for disparate_impact >= 0.8."


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

    With labels the `priority` is "opportunity", "errors", "meaning" or "probability"; without, "decisions", "scores"
    (the usual answer) or "shape"; either way "individuals" or "causes".

    Of more than two classes (`classes=True`), recommend how to make one number of them instead: is the `focus` on how
    each group fares ("per-group") or on differences ("between-groups", on an "absolute" or "relative" `scale`); do
    `extremes` count or all groups; do groups and classes matter "equally", those worst off most ("worst-most"), or only
    "one" class.

    >>> guide(ground_truth=False).command
    'evenhand audit DATA --score COL --group COL --measures demographic_parity,abcc'
    >>> advice = guide(ground_truth=True, priority="errors")
    >>> advice.measures, advice.why
    (('equalized_odds',), 'Both kinds of error matter: wrongly refused and wrongly accepted.')
    >>> advice = guide(classes=True, focus="between-groups", scale="absolute", extremes=True)
    >>> advice.command.partition("--unit ")[2]
    'gap --across-groups=inf --across-classes=2'
    """
    ground_truth = None if ground_truth is None else truth("ground_truth", ground_truth)
    extremes = None if extremes is None else truth("extremes", extremes)
    classes, legal = truth("classes", classes), truth("legal", legal)
    answers = {"focus": focus, "scale": scale, "extremes": extremes, "groups_matter": groups_matter,
               "classes_matter": classes_matter}  # fmt: skip
    said = [name for name, answer in answers.items() if answer is not None]
    if classes:
        if ground_truth is False or priority is not None:
            raise UsageError("of many classes the guide asks for no priority: leave it and ground truth out")
        return _guide_classes(answers, legal)
    if said:
        raise UsageError(f"{listed(said)} {'is' if len(said) == 1 else 'are'} about many classes: say classes=True")
    if ground_truth is None:
        raise UsageError("say whether true outcomes are known: ground_truth=True or False")
    choices = PRIORITIES if ground_truth else WITHOUT_TRUTH
    chosen = "scores" if priority is None and not ground_truth else priority
    if not isinstance(chosen, str) or chosen not in choices:
        raise UsageError(
            f"{'with' if ground_truth else 'without'} ground truth the priority is one of {listed(choices)}, not "
            f"{shown(priority)}{nearest(priority, choices)}"
        )
    return _advice(chosen, *choices[chosen], ground_truth, legal)


def _advice(priority: str, measures: tuple[str, ...], why: str, ground_truth: bool, legal: bool) -> Advice:
    """A leaf of the tree."""
    rule, extra = (_RULE, ("disparate_impact",)) if legal else ("", ())
    if priority in _ANALYSES:
        decisions = Advice(extra, "", columns=("score", "group"))
        beware = _ROWS[priority] + (f" For the rule: {decisions.command}" if legal else "")
        return Advice((*measures, *extra), why + rule, beware, *_ANALYSES[priority])
    roles = {"score": priority != "decisions", "prediction": priority == "decisions", "label": ground_truth}
    columns = (*(role for role, there in roles.items() if there), "group")
    return Advice((*measures, *extra), why + rule, _TRUTH if ground_truth else _NO_TRUTH, columns=columns)


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
    columns = ("label", "prediction", "group", *(("positive",) if over == "binary" else ()))
    return AggregateAdvice(
        ("aggregate",), f"{text} {why} {last}", beware, columns=columns, unit=unit, across_groups=groups,
        across_classes=over,
    )  # fmt: skip
