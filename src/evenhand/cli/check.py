"""The command that stops a pipeline: it holds data to a policy, or writes one to begin with."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from evenhand.cli.files import READ, SHOWN
from evenhand.cli.options import INFERENCE, SCORES, WHOLE, command, option, references, under
from evenhand.cli.output import FORMS, progress_bar, put, reader_gone, wanted, write, write_starter
from evenhand.errors import UsageError

POLICY = "policy.toml"


def _write_policy(file: str, **how: Any) -> None:
    from evenhand.analyses.check.template import STARTER

    write_starter(file, STARTER, f"edit its rules, then run evenhand check DATA --policy {file}", **how)


def _init(context: click.Context, param: click.Parameter, file: str | None) -> None:
    if file is not None and not context.resilient_parsing:
        _write_policy(file)
        context.exit()


@command(
    "data",
    epilog="""
\b
Rules:
  disparate_impact >= 0.8          the value: of a ratio the lower rate
                                   over the higher, of a gap its size
  abcc <= 0.1 at 95%               all of its 95% interval
  abcc <= 0.05 above chance        what exceeds the noise floor
  abcc <= 0.1 at 95% for sex       one attribute only

Every group is compared with the reference, by every attribute and by the intersection of several; all must keep to the
rule. Exit code 0: they do. 1: they do not. 2: the policy, the options or the data make no sense.
""",
)
@under(
    "Policy",
    option("--policy", metavar="FILE", type=READ, help="The policy, a TOML file."),
    option("--init", metavar="[FILE]", is_flag=False, flag_value=POLICY, expose_value=False,
           callback=_init, help=f"Write a commented policy to begin with, and check nothing  [default: {POLICY}]"),
    option("--require", metavar="RULE", multiple=True, help="A rule, such as 'disparate_impact >= 0.8'."),
    option("--undefined", metavar="fail|skip", help="What an undefined measure means  [default: fail]"),
    option("--min-group-size", metavar="N", type=WHOLE, help="Groups of fewer people are not judged."),
    option("--small-groups", metavar="fail|skip", help="What such a group means  [default: fail]"),
)  # fmt: skip
@under("Columns")
@under("Decision")
@under("Measures", *SCORES)
@under("Inference", *INFERENCE[1:])  # the rules say at which level of confidence
@under(
    "Output",
    *FORMS,
    option("--junit", metavar="FILE|-", type=SHOWN, help="Write the verdict as JUnit XML."),
    option("--github", is_flag=True, help="Also print it as annotations of GitHub Actions."),
)
@click.pass_context
def check(context: click.Context, /, data: str, **options: Any) -> int:
    """Hold DATA to a policy, and say so by the exit code: a file, folder or glob of rows, or a saved table."""
    from evenhand.analyses.check.check import judge
    from evenhand.analyses.check.data import counted
    from evenhand.analyses.check.policy_file import rulebook

    given = {k: v for k, v in options.items() if context.get_parameter_source(k) is ParameterSource.COMMANDLINE}
    asked = {k: given.pop(k, None) for k in ("policy", "require", "undefined", "min_group_size", "small_groups")}
    asked["require"] = asked["require"] or ()
    github, stated = given.pop("github", False), given.pop("reference", ())
    paths = wanted(given)
    if github and "-" in paths.values():
        raise UsageError("--github goes to standard output, and so does what is written to -: name a file")
    book = rulebook(**asked, options=given)
    with progress_bar() as progress:
        progress(0, "counting rows")
        table = counted(data, book)
        if stated:
            reference = references([a.name for a in table.attributes], stated)
            book = replace(book, audit={**book.audit, "reference": reference}, written=book.written - {"reference"})
        verdict = judge(table, book, progress)
    with reader_gone():  # whoever stops reading does not change the verdict
        write(verdict, paths)
        if github:
            put(verdict.to_annotations(), "-")
        sys.stdout.flush()
    return verdict.exit_code


@click.group()
def policy() -> None:
    """Write a policy: the old name of `evenhand check --init`."""


@policy.command()
@click.option(
    "-o", "--output", metavar="FILE", type=SHOWN, default=POLICY, show_default=True, help="Where to write it."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def init(output: str, force: bool) -> None:
    """Write a commented policy to begin with."""
    _write_policy(output, force=force, choices=" (-o), or --force to replace it")
