"""Commands that test, plan and advise."""

from __future__ import annotations

import sys
from typing import Any

import click

from evenhand.cli.options import NUMBER, whole
from evenhand.cli.output import check_place, deliver
from evenhand.errors import UsageError, shown


@click.command()
@click.argument("data")
@click.option("--score", metavar="COL", help="Column with the probabilities of a logistic model.")
@click.option("--logit", metavar="COL", help="Column with its logits, instead of the probabilities.")
@click.option("--beta-norm", metavar="B", type=NUMBER, help="‖β‖ of the model; without it, distances are in logits.")
@click.option("--label", metavar="COL", help="Column with the true outcome.")
@click.option("--group", metavar="COL", help="Column that divides people into groups.")
@click.option("--weight", metavar="COL", help="Column with numbers of people.")
@click.option("--favorable", metavar="V", help="The good value of the label  [default: 1]")
@click.option("--risk", is_flag=True, help="A high score is bad for the person.")
@click.option(
    "--missing", type=click.Choice(["refuse", "drop"]), help="What to do with incomplete rows  [default: refuse]"
)
@click.option("--reference", metavar="V", help="Group to compare with  [default: the largest]")
@click.option("--compare", metavar="V", help="Group to compare, if there are more than two.")
@click.option(
    "--criterion",
    type=click.Choice(["equal_opportunity", "equalized_odds"]),
    default="equal_opportunity",
    show_default=True,
    help="What should hold.",
)
@click.option("--level", metavar="P", type=NUMBER, default=0.05, show_default=True, help="Level of the test.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def test(data: str, json_path: str | None, **words: Any) -> None:
    """Test a logistic score in DATA: how far must people move until it is fair? (Wasserstein projection)"""
    from evenhand.analyses.projection.projection_test import projection_test

    if json_path is not None:
        check_place("--json", json_path, {}, [data])
    found = projection_test(data, **{k: v for k, v in words.items() if v is not None})
    deliver(found.to_dict(), repr(found), json_path)


@click.command()
@click.option("--n", metavar="N[,M]", help="People of each group, or of the group and of the reference.")
@click.option("--base-rate", metavar="P", type=NUMBER, required=True, help="The rate of the reference.")
@click.option("--gap", metavar="D", type=NUMBER, help="Rate of the group minus rate of the reference.")
@click.option(
    "--ratio",
    metavar="R",
    type=NUMBER,
    default=1.0,
    show_default=True,
    help="People of the reference for each of the group.",
)
@click.option("--power", metavar="P", type=NUMBER, default=0.8, show_default=True, help="Wanted power.")
@click.option("--level", metavar="P", type=NUMBER, default=0.05, show_default=True, help="Level of the test.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def power(n: str | None, json_path: str | None, **words: Any) -> None:
    """Plan how many people it takes to find a gap: say --n or --gap, or both."""
    import textwrap

    from evenhand.analyses.planning.power import power as plan

    people: Any = None
    if n is not None:
        try:
            numbers = [whole(part) for part in n.split(",")]
        except ValueError:
            raise UsageError(f"--n takes one or two whole numbers such as 200,1000, not {shown(n)}") from None
        people = numbers[0] if len(numbers) == 1 else tuple(numbers)
    if json_path is not None:
        check_place("--json", json_path, {}, [])
    found = plan(people, **words)
    deliver(found.to_dict(), "\n".join(textwrap.wrap(str(found), 80)), json_path)


@click.command()
@click.option("--ground-truth/--no-ground-truth", default=None, help="Whether true outcomes are known.")
@click.option("--priority", metavar="WHAT", help="What matters most: opportunity, errors, meaning, probability, …")
@click.option("--legal/--no-legal", default=None, help="Whether the four-fifths rule applies.")
@click.option("--classes", is_flag=True, help="Of more than two classes: how to make one number of them.")
@click.option("--focus", metavar="WHAT", help="Of classes: per-group or between-groups.")
@click.option("--scale", metavar="WHAT", help="Of classes, between groups: absolute or relative.")
@click.option("--extremes/--variability", default=None, help="Of classes: the worst group, or all of them.")
@click.option("--groups-matter", metavar="WHAT", help="Of classes: equally or worst-most.")
@click.option("--classes-matter", metavar="WHAT", help="Of classes: equally, worst-most or one.")
def guide(ground_truth: bool | None, priority: str | None, legal: bool | None, classes: bool, **answers: Any) -> None:
    """Find out which measure to look at, by questions or by flags."""
    from evenhand.analyses.planning.guide import PRIORITIES, QUESTIONS
    from evenhand.analyses.planning.guide import guide as advise

    asking = sys.stdin.isatty()
    said = [_FLAGS[name] for name, answer in answers.items() if answer is not None]
    if said and not classes:
        raise UsageError(f"{', '.join(said)} {'is' if len(said) == 1 else 'are'} about many classes: say --classes too")
    if classes:
        stated = {"ground_truth": ground_truth, "priority": priority, "legal": legal}
        given = {**stated, **_class_answers(asking, bool(legal), answers)}
        _say(advise(classes=True, **{k: v for k, v in given.items() if v is not None}))
        return
    if ground_truth is None:
        ground_truth = True if priority is not None else _ask(asking, QUESTIONS["ground_truth"], "--ground-truth")
    if ground_truth and priority is None:
        if not asking:
            raise UsageError(f"say what matters most with --priority: {', '.join(PRIORITIES)}")
        click.echo(QUESTIONS["priority"], err=True)
        for name, (measure, why) in PRIORITIES.items():
            click.echo(f"  {name:<12} {why} ({measure})", err=True)
        priority = click.prompt("Your choice", type=click.Choice(list(PRIORITIES)), show_choices=False, err=True)
    if legal is None:
        legal = click.confirm(QUESTIONS["legal"], err=True) if asking else False
    _say(advise(ground_truth=ground_truth, priority=priority, legal=legal))


def _say(advice: object) -> None:
    """Wrapped, but for the command, whose lines can be copied."""
    import textwrap

    for line in str(advice).splitlines():
        click.echo(line if len(line) <= 80 else "\n".join(textwrap.wrap(line, 80)))


_FLAGS = {
    "focus": "--focus", "scale": "--scale", "extremes": "--extremes/--variability", "groups_matter": "--groups-matter",
    "classes_matter": "--classes-matter",
}  # fmt: skip


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
            missing.append(_FLAGS[name] if name == "extremes" else f"{_FLAGS[name]} {'|'.join(choices)}")
            continue
        click.echo(question, err=True)
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
