"""The command that recommends a measure."""

from __future__ import annotations

import sys
from typing import Any

import click

from evenhand.cli.options import command, option, under
from evenhand.cli.output import say, wanted, write
from evenhand.errors import UsageError, shown


@command()
@under(
    "Answers",
    option("--ground-truth/--no-ground-truth", default=None, help="Whether true outcomes are known."),
    option("--priority", metavar="WHAT", help="What matters most: opportunity, errors, meaning, probability, …"),
    option("--legal/--no-legal", default=None, help="Whether the four-fifths rule applies."),
    option("--classes", is_flag=True, help="There are more than two classes: how to make one number of them."),
)
@under(
    "Multi-class only",
    option("--focus", metavar="WHAT", help="per-group or between-groups."),
    option("--scale", metavar="WHAT", help="Between groups: absolute or relative."),
    option("--extremes/--variability", default=None, help="The worst group, or all of them."),
    option("--groups-matter", metavar="WHAT", help="equally or worst-most."),
    option("--classes-matter", metavar="WHAT", help="equally, worst-most or one."),
)
@under("Output")
def guide(ground_truth: bool | None, priority: str | None, legal: bool | None, classes: bool, **answers: Any) -> None:
    """Find out which measure to look at, by questions or by options."""
    from evenhand.analyses.planning.guide import PRIORITIES, QUESTIONS, guide as advise

    paths, asking = wanted(answers), sys.stdin.isatty()
    said = [_flag(name) for name, answer in answers.items() if answer is not None]
    if said and not classes:
        raise UsageError(f"{', '.join(said)} {'is' if len(said) == 1 else 'are'} about many classes: say --classes too")
    if classes:
        stated = {"ground_truth": ground_truth, "priority": priority, "legal": legal}
        given = {**stated, **_class_answers(asking, bool(legal), answers)}
        write(advise(classes=True, **{k: v for k, v in given.items() if v is not None}), paths)
        return
    if ground_truth is None:
        ground_truth = True if priority is not None else _ask(asking, QUESTIONS["ground_truth"], "--ground-truth")
    if ground_truth and priority is None:
        if not asking:
            raise UsageError(f"say what matters most with --priority: {', '.join(PRIORITIES)}")
        say(QUESTIONS["priority"])
        for name, (measure, why) in PRIORITIES.items():
            say(f"  {name:<12} {why} ({measure})")
        priority = click.prompt("Your choice", type=click.Choice(list(PRIORITIES)), show_choices=False, err=True)
    if legal is None:
        legal = click.confirm(QUESTIONS["legal"], err=True) if asking else False
    write(advise(ground_truth=ground_truth, priority=priority, legal=legal), paths)


def _flag(name: str) -> str:
    return "--extremes/--variability" if name == "extremes" else f"--{name.replace('_', '-')}"


def _class_answers(asking: bool, legal: bool, answers: dict[str, Any]) -> dict[str, Any]:
    """What was not said is asked where somebody can answer."""
    from evenhand.analyses.planning.guide import CLASS_QUESTIONS

    missing: list[str] = []
    for name, (question, choices) in CLASS_QUESTIONS.items():
        needed = name != "scale" or (answers["focus"] == "between-groups" and not legal)
        needed &= name != "groups_matter" or answers["extremes"] is False
        if not needed or answers[name] is not None:
            continue
        if not asking:
            missing.append(_flag(name) if name == "extremes" else f"{_flag(name)} {'|'.join(choices)}")
            continue
        say(question)
        answer = click.prompt("Your choice", type=click.Choice(list(choices)), err=True)
        answers[name] = answer == "extremes" if name == "extremes" else answer
    if missing:
        raise UsageError(
            f"what to recommend depends on answers that cannot be asked for here: say {', '.join(missing)}"
        )
    return answers


def _ask(asking: bool, question: str, flag: str) -> bool:
    if not asking:
        raise UsageError(f"cannot ask {shown(question)} here: say {flag} or --no-{flag[2:]}")
    return click.confirm(question, err=True)
