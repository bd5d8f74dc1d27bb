"""Words → calls. No arithmetic here, and nothing heavy is imported before a command runs."""

from __future__ import annotations

import io
import os
import sys
import traceback

import click

from evenhand import __version__
from evenhand.cli import audit as audits
from evenhand.cli import check as gate
from evenhand.cli import counterfactual, individual, planning
from evenhand.cli import experiment as bench
from evenhand.cli import monitor as watching
from evenhand.cli import table as sharing
from evenhand.cli import thresholds as models
from evenhand.cli.output import say, silence
from evenhand.errors import EvenhandError
from evenhand.files.secrets import is_address, masked


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell whether a model treats groups of people alike.

    Start with `evenhand demo`, then audit your own file of scores:

    \b
        evenhand audit scores.csv --score p --label outcome --group sex
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (
    audits.demo, audits.audit, audits.tabulate, audits.merge, sharing.table, audits.aggregate, models.thresholds,
    models.compare, bench.bench, individual.individual, counterfactual.counterfactual, gate.check, gate.policy,
    watching.monitor, planning.test, planning.power, planning.guide,
):  # fmt: skip
    cli.add_command(_command)


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
    addresses = [part for word in arguments for part in (word, word.partition("=")[2]) if is_address(part)]
    code = 0
    try:
        code = cli.main(list(arguments), prog_name="evenhand", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.ClickException as error:
        _fail(error.format_message(), addresses, hint=isinstance(error, click.UsageError))
    except EvenhandError as error:
        _fail(str(error), addresses)
    except (KeyboardInterrupt, click.Abort):
        say("evenhand: interrupted")
        sys.exit(130)
    except OSError as error:
        silence()
        if isinstance(error.__context__, KeyboardInterrupt):  # click could not even end the line
            silence(sys.stderr)
            sys.exit(130)
        if not isinstance(error, BrokenPipeError):
            _fail(f"cannot write the result: {error.strerror or error}", addresses)
        # The reader has gone (`| head`): say nothing, also not when Python flushes at the end.
        silence(sys.stderr)
    except Exception as error:
        from evenhand.ingest.progress import is_interrupt

        if is_interrupt(error):
            say("evenhand: interrupted")
            sys.exit(130)
        if os.environ.get("EVENHAND_DEBUG"):
            say(traceback.format_exc())
        _fail(f"unexpected {type(error).__name__}: {error} (a bug; set EVENHAND_DEBUG=1 to see where)", addresses)
    if code:
        sys.exit(code)


def _fail(message: str, addresses: list[str], hint: bool = False) -> None:
    for address in addresses:  # click repeats a word that it does not expect
        message = message.replace(address, masked(address))
    sentence = " ".join(message.split())
    sentence = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    say(f"evenhand: {sentence}{' (try --help)' if hint else ''}")
    sys.exit(2)
