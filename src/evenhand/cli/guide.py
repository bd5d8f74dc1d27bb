"""The command that recommends a measure."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.files import READ
from evenhand.cli.options import command, option, under
from evenhand.cli.output import say, wanted, write
from evenhand.errors import UsageError, shown
from evenhand.files.secrets import masked

if TYPE_CHECKING:
    from evenhand.analyses.planning.advice import Advice


@command(context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE ANALYSIS]")
@under(
    "Answers",
    option("--ground-truth/--no-ground-truth", default=None, help="Whether true outcomes are known."),
    option(
        "--priority",
        metavar="WHAT",
        help="What matters most. With outcomes: opportunity, errors, meaning, probability; without: decisions, "
        "scores, shape; either way: individuals, causes.",
    ),
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
@under(
    "Analysis",
    option("--run", metavar="DATA", type=READ,
           help="Compute what is advised of DATA, with the options of that command, such as --score p --group sex."),
)  # fmt: skip
@under("Output")
@click.pass_context
def guide(context: click.Context, /, rest: tuple[str, ...], run: str | None, **answers: Any) -> Any:
    """Find out which measure to look at, by questions or by options; --run computes it."""
    if rest and run is None:
        if rest[0].startswith("-"):
            raise click.NoSuchOption(rest[0].partition("=")[0], ctx=context)
        raise UsageError(f"unexpected {shown(rest[0])}: to compute what is advised, say --run DATA")
    paths = wanted(answers)
    advice = _advice(**answers)
    if run is None:
        write(advice, paths)
        return None
    words = advice.arguments(run, [*rest, *(f"--{form}={path}" for form, path in paths.items())])
    say(f"{advice.why}\n{advice.beware or ''}".strip())
    say(f"$ {shlex.join(('evenhand', *map(masked, words)))}")
    return context.find_root().command.main(words, prog_name="evenhand", standalone_mode=False)


def _advice(
    ground_truth: bool | None, priority: str | None, legal: bool | None, classes: bool, **answers: Any
) -> Advice:
    """The leaf of the tree; what was not said is asked where somebody can answer."""
    from evenhand.analyses.planning.guide import PRIORITIES, QUESTIONS, WITHOUT_TRUTH, guide as advise

    asking = sys.stdin.isatty()
    said = [_flag(name) for name, answer in answers.items() if answer is not None]
    if said and not classes:
        raise UsageError(f"{', '.join(said)} {'is' if len(said) == 1 else 'are'} about many classes: say --classes too")
    if classes:
        stated = {"ground_truth": ground_truth, "priority": priority, "legal": legal}
        given = {**stated, **_class_answers(asking, bool(legal), answers)}
        return advise(classes=True, **{k: v for k, v in given.items() if v is not None})
    if ground_truth is None and priority is not None:
        ground_truth = priority in PRIORITIES or priority not in WITHOUT_TRUTH
    if ground_truth is None:
        ground_truth = _ask(asking, QUESTIONS["ground_truth"], "--ground-truth")
    if priority is None and asking:
        priority = _choice(QUESTIONS["priority"], PRIORITIES if ground_truth else WITHOUT_TRUTH)
    if priority is None and ground_truth:
        raise UsageError(f"say what matters most with --priority: {', '.join(PRIORITIES)}")
    if legal is None:
        legal = click.confirm(QUESTIONS["legal"], err=True) if asking else False
    return advise(ground_truth=ground_truth, priority=priority, legal=legal)


def _choice(question: str, choices: Mapping[str, tuple[tuple[str, ...], str]]) -> str:
    """One of these, with what each is for."""
    say(question)
    for name, (measures, why) in choices.items():
        say(f"  {name:<12} {why} ({', '.join(measures)})")
    return str(click.prompt("Your choice", type=click.Choice(list(choices)), show_choices=False, err=True))


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
