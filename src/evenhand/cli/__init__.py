"""Arguments → calls. Commands are the modules of this folder, and nothing is imported before it is used."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from evenhand import __version__
from evenhand.cli.output import say, silence
from evenhand.errors import EvenhandError
from evenhand.files.secrets import is_address, masked

SECTIONS = {
    "Audit": {
        "demo": "Audit the built-in COMPAS recidivism scores.",
        "init": "Guess the columns of a file and the command to run.",
        "audit": "Compare groups by every measure, with intervals.",
        "check": "Hold data to a policy; exit code 1 if they break it.",
        "monitor": "Follow fairness over time and raise alarms.",
        "aggregate": "Reduce many classes and groups to one number.",
        "projection-test": "Test a logistic model by Wasserstein projection.",
    },
    "Choose": {
        "thresholds": "Find the threshold that meets a policy at least cost.",
        "alternatives": "Search for a less discriminatory model, and confirm it.",
        "compare": "Compare methods by the trade-offs of their runs.",
        "experiment": "Train methods on data sets and compare them.",
    },
    "People": {
        "individual": "Compare the scores of similar people.",
        "counterfactual": "Estimate scores had people been of another group.",
    },
    "Tables": {
        "table make": "Count data once and save the counts.",
        "table merge": "Add up saved tables.",
        "table info": "Show what a saved table holds and discloses.",
        "verify": "Tell whether a report was made from a table.",
    },
    "Plan": {
        "power": "Compute how many people it takes to find a gap.",
        "guide": "Choose a measure by answering a few questions.",
        "measures": "List all measures: what each asks and needs.",
        "profiles": "List rules whose tables an audit can show.",
    },
    "Research": {
        "reproduce": "Run published tables and figures again.",
    },
}
COMMANDS = tuple(dict.fromkeys(name.split()[0] for commands in SECTIONS.values() for name in commands))
# Commands that are not called like their module; the last five are old names.
PLACES = {
    "demo": "audit.demo", "tabulate": "table.make", "merge": "table.merge", "test": "projection_test.projection_test",
    "bench": "experiment.experiment", "policy": "check.policy",
}  # fmt: skip


class _Lazy(click.Group):
    """Commands in sections, imported when one is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (*COMMANDS, *PLACES):
            return None
        name = cmd_name.replace("-", "_")
        module, _, function = PLACES.get(name, f"{name}.{name}").partition(".")
        found: click.Command = getattr(import_module(f"evenhand.cli.{module}"), function)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:  # which click would answer with an empty line
            raise click.Abort(*error.args) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for commands in SECTIONS.values() for name in commands)
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:<{width}}", summary) for name, summary in commands.items()])


@click.group(cls=_Lazy, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell whether a model treats groups of people alike.

    Start with `evenhand demo`, then audit your own file of scores:

    \b
        evenhand init scores.csv
        evenhand audit scores.csv --score p --label outcome --group sex
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0, or 2 with one sentence on standard error.

    A command may return another exit code: 1 if data do not keep to a policy or an alarm is raised. Nothing else ends
    with 1, a mistake of ours neither.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that knows no ≥ shows ? instead
    arguments = sys.argv[1:] if arguments is None else arguments
    addresses = [part for text in arguments for part in (text, text.partition("=")[2]) if is_address(part)]
    code = 0
    try:
        code = cli.main(list(arguments), prog_name="evenhand", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.ClickException as error:
        _fail(error.format_message(), addresses, hint=isinstance(error, click.UsageError))
    except EvenhandError as error:
        _fail(str(error), addresses)
    except (KeyboardInterrupt, click.Abort):
        _interrupted()
    except OSError as error:
        silence()
        if isinstance(error.__context__, KeyboardInterrupt):  # click could not even end the line
            _interrupted()
        if not isinstance(error, BrokenPipeError):
            _fail(f"cannot write the result: {error.strerror or error}", addresses)
        # The reader has gone (`| head`): say nothing, also not when Python flushes at the end.
        silence(sys.stderr)
    except Exception as error:
        from evenhand.ingest.progress import is_interrupt

        if is_interrupt(error):
            _interrupted()
        if os.environ.get("EVENHAND_DEBUG"):
            say(traceback.format_exc())
        _fail(f"unexpected {type(error).__name__}: {error} (a bug; set EVENHAND_DEBUG=1 to see where)", addresses)
    if code:
        sys.exit(code)


def _interrupted() -> None:
    """A line of its own, also after the ^C of a terminal; the exit code is that of the signal that was heard last.

    What was raised does not know it: engines raise an exception of their own when they are interrupted.
    """
    say(f"{chr(10) if sys.stderr.isatty() else ''}evenhand: interrupted")
    heard = (getattr(signal.getsignal(number), "code", 0) for number in (signal.SIGINT, signal.SIGTERM))
    sys.exit(max(heard) or 130)


def _fail(message: str, addresses: list[str], hint: bool = False) -> None:
    for address in addresses:  # click repeats an argument that it does not expect
        message = message.replace(address, masked(address))
    sentence = " ".join(message.split())
    say(f"evenhand: {sentence}{' (try --help)' if hint else ''}")
    sys.exit(2)
