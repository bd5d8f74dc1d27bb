"""Words → calls. No arithmetic here, and nothing heavy is imported before a command runs."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand import __version__
from evenhand.errors import EvenhandError, UsageError, shown
from evenhand.files import check_target

if TYPE_CHECKING:
    from evenhand.options import Progress

Command = Callable[..., None]


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


def _columns(command: Command) -> Command:
    """The words that say how data are to be read."""
    options = (
        click.option(
            "--score",
            metavar="COL[,COL…]",
            help="Column with the score of each person; several to compare models (audit).",
        ),
        click.option("--label", metavar="COL", help="Column with the true outcome."),
        click.option("--group", metavar="COL[,COL…]", help="Column(s) that divide people into groups."),
        click.option("--prediction", metavar="COL", help="Column with the decision, instead of a threshold."),
        click.option("--weight", metavar="COL", help="Column with weights; whole numbers count people."),
        click.option(
            "--weight-kind",
            type=click.Choice(["auto", "frequency", "sampling"]),
            help="How weights are meant; auto takes whole numbers for numbers of people.",
        ),
        click.option("--cluster", metavar="COL", help="Column that tells which rows belong to one person."),
        click.option("--favorable", metavar="V", help="The good value of label and prediction  [default: 1]"),
        click.option("--risk", is_flag=True, help="A high score is bad for the person."),
        click.option("--score-range", metavar="LO,HI", help="Lowest and highest possible score."),
        click.option(
            "--missing",
            type=click.Choice(["refuse", "drop"]),
            help="What to do with incomplete rows  [default: refuse]",
        ),
        click.option(
            "--where", metavar="COL=V[,V…]", multiple=True, help="Only rows with one of these values of a column."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _classes(command: Command) -> Command:
    """The words that say how many classes become one number."""
    options = (
        click.option("--metric", metavar="RATE", help="Of classes: tpr (default), fpr, ppv, selection_rate, f1, …"),
        click.option("--unit", metavar="U", help="Of classes: gap (default), score or ratio."),
        click.option(
            "--across-groups", metavar="F", help="Of classes: a power (1), or a name such as 'max gap' or fairlib."
        ),
        click.option("--across-classes", metavar="F", help="Of classes: a power (2), mean, quadratic mean, binary."),
        click.option("--baseline", metavar="B", help="Of classes: compare with overall (default) or mean."),
        click.option("--empty", metavar="R", type=float, help="Of classes: what a cell without rows counts as."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _auditing(command: Command) -> Command:
    """The words that say how groups are to be compared."""
    options = (
        click.option(
            "--threshold", metavar="T[,T…]", help="Favourable at scores ≥ T (risk scores: < T); one, or one a score."
        ),
        click.option(
            "--reference",
            metavar="V",
            multiple=True,
            help="Group to compare with, or COL=V for one of several columns  [default: the largest]",
        ),
        click.option(
            "--confidence", metavar="P", type=float, default=0.95, show_default=True, help="Level of intervals."
        ),
        click.option(
            "--bootstrap", metavar="N", type=int, default=1000, show_default=True, help="Resamples; 0 for none."
        ),
        click.option(
            "--measures",
            metavar="ID[,ID…]",
            help="Only these measures, by their ids in JSON  [default: all]",
        ),
        click.option(
            "--ranks",
            type=click.Choice(["published", "mid"]),
            default="published",
            show_default=True,
            help="How tied scores are ranked.",
        ),
        click.option(
            "--calibration-bins", metavar="N", type=int, default=50, show_default=True, help="Bins of calibration bias."
        ),
        click.option(
            "--bandwidth",
            metavar="B",
            default="scott",
            show_default=True,
            help="Of densities: scott, silverman, or a share of the score range.",
        ),
        click.option(
            "--permutations",
            metavar="N",
            type=int,
            default=1000,
            show_default=True,
            help="Tables with exchanged groups, for p-values and the noise floor; 0 for none.",
        ),
        click.option(
            "--null",
            type=click.Choice(["concept", "published"]),
            default="concept",
            show_default=True,
            help="Who exchanges groups: whom a measure calls alike, or everybody.",
        ),
        click.option(
            "--interval",
            type=click.Choice(["auto", "percentile", "basic", "bca"]),
            default="auto",
            show_default=True,
            help="The best known intervals, or ordinary bootstrap ones.",
        ),
        click.option("--stratified", is_flag=True, help="Resamples keep the size of every group."),
        click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Seed of the resampling."),
        click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@_auditing
def demo(**how: Any) -> None:
    """Audit the built-in COMPAS recidivism scores (no file, no network)."""
    from evenhand.examples import compas

    how["threshold"] = "5" if how["threshold"] is None else how["threshold"]
    how["reference"] = how["reference"] or ("Caucasian",)
    _show(compas(), {}, how)


_HOW = (
    "threshold", "reference", "confidence", "bootstrap", "measures", "ranks", "calibration_bins", "bandwidth",
    "permutations", "null", "interval", "stratified", "seed", "json_path",
)  # fmt: skip


_MODELS = ("performance", "fairness")
_CLASSES = ("metric", "unit", "across_groups", "across_classes", "baseline", "empty")


@cli.command()
@click.argument("data")
@_columns
@_auditing
@click.option("--performance", metavar="P", help="Of several scores: accuracy (default), auroc, brier, …")
@click.option("--fairness", metavar="ID", help="Of several scores: the measure to weigh against it.")
@_classes
def audit(data: str, **words: Any) -> None:
    """Audit DATA: a file, folder or glob (CSV, TSV, Parquet, Arrow, JSON lines), or a saved table."""
    how = {k: words.pop(k) for k in _HOW}
    how |= {k: v for k in (*_MODELS, *_CLASSES) if (v := words.pop(k)) is not None}
    _show(data, _read_words(words), how)


@cli.command()
@click.argument("data")
@_columns
@click.option("--classes", is_flag=True, help="Count true and predicted classes, though there are only two.")
@click.option("-o", "--output", metavar="TABLE", required=True, help="Where to write the table.")
def tabulate(data: str, output: str, **words: Any) -> None:
    """Count DATA once and keep the table, which holds no personal data beyond its counts."""
    from evenhand.ingest import tabulate as count
    from evenhand.ingest.counts import wordless

    read = _read_words(words)
    read = wordless(data, read) or read
    if "group" not in read:
        raise UsageError("name at least one group column (--group)")
    check_target(output)
    with _progress() as progress:
        progress(0, "counting rows")
        table = count(data, **read)
    table.save(output)
    click.echo(f"{table!r}\nsaved to {output}", err=True)


@cli.command()
@click.argument("data")
@click.option("--label", metavar="COL", help="Column with the true class.")
@click.option("--prediction", metavar="COL", help="Column with the predicted class.")
@click.option("--group", metavar="COL[,COL…]", help="Column(s) that divide people into groups.")
@click.option("--weight", metavar="COL", help="Column with weights; whole numbers count people.")
@click.option(
    "--weight-kind", type=click.Choice(["auto", "frequency", "sampling"]), help="How weights are meant  [default: auto]"
)
@click.option(
    "--missing", type=click.Choice(["refuse", "drop"]), help="What to do with incomplete rows  [default: refuse]"
)
@click.option("--where", metavar="COL=V[,V…]", multiple=True, help="Only rows with one of these values of a column.")
@_classes
@click.option("--gamma", metavar="G", type=float, help="Limit of the difference or ratio threshold.")
@click.option("--positive", metavar="V", help="The class that --across-classes binary is about.")
@click.option("--attribute", metavar="COL", help="Compare by this group column  [default: the product of all]")
@click.option("--confidence", metavar="P", type=float, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--bootstrap", metavar="N", type=int, default=1000, show_default=True, help="Resamples; 0 for none.")
@click.option("--permutations", metavar="N", type=int, default=1000, show_default=True, help="Exchanges; 0 for none.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Seed of the resampling.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def aggregate(data: str, json_path: str | None, seed: int, **words: Any) -> None:
    """Make one number of many classes and groups in DATA: rows, confusion counts, or a saved table."""
    from evenhand.aggregation import aggregate as made

    if json_path not in (None, "-"):
        check_target(json_path)
    found = made(data, rng=seed, **_read_words(words))
    _deliver(found.to_dict(), repr(found), json_path)


@cli.command()
@click.argument("data")
@click.option("--score", metavar="COL", help="Column with the probabilities of a logistic model.")
@click.option("--logit", metavar="COL", help="Column with its logits, instead of the probabilities.")
@click.option("--beta-norm", metavar="B", type=float, help="‖β‖ of the model; without it, distances are in logits.")
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
@click.option("--level", metavar="P", type=float, default=0.05, show_default=True, help="Level of the test.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def test(data: str, json_path: str | None, **words: Any) -> None:
    """Test a logistic score in DATA: how far must people move until it is fair? (Wasserstein projection)"""
    from evenhand.projection import projection_test

    if json_path not in (None, "-"):
        check_target(json_path)
    found = projection_test(data, **{k: v for k, v in words.items() if v is not None})
    _deliver(found.to_dict(), repr(found), json_path)


@cli.command()
@click.argument("data")
@_columns
@click.option("--attribute", metavar="COL[,COL…]", help="Compare by this group column; all of them for their product.")
@click.option(
    "--reference",
    metavar="V",
    multiple=True,
    help="Group to compare with, or COL=V for one of several columns  [default: the largest]",
)
@click.option("--performance", metavar="P", default="accuracy", show_default=True, help="Or balanced_accuracy.")
@click.option("--cost", metavar="FP,FN", help="Costs of a false favourable and a false unfavourable decision instead.")
@click.option("--fairness", metavar="ID", help="Measure of decisions  [default: that required, or demographic_parity]")
@click.option("--require", metavar="RULE", multiple=True, help="The policy, such as 'disparate_impact >= 0.8'.")
@click.option("--threshold", metavar="T", type=float, help="The threshold in use, to compare with.")
@click.option("--allow-trivial", is_flag=True, help="Recommend even to select everybody or nobody.")
@click.option("--by-group", is_flag=True, help="Analyse what separate thresholds for each group would achieve.")
@click.option("--confidence", metavar="P", type=float, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--bootstrap", metavar="N", type=int, default=1000, show_default=True, help="Resamples; 0 for none.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Seed of the resampling.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def thresholds(data: str, json_path: str | None, seed: int, **words: Any) -> None:
    """Find the threshold of a score in DATA that meets a policy at the least cost, and show all others."""
    from evenhand.auditing import as_table
    from evenhand.cutoffs import checked_words
    from evenhand.cutoffs import thresholds as found

    if words.pop("prediction") is not None:
        raise UsageError("a prediction is decided already: leave --prediction out and name the --score")
    how = {word: words.pop(word) for word in _CUTOFFS}
    if how["cost"] is not None:
        how["cost"] = _numbers(how["cost"], "cost")
    if how["attribute"] is not None:
        names = _split(how["attribute"])
        how["attribute"] = names[0] if len(names) == 1 else names
    stated = how.pop("reference")
    checked_words(**{k: v for k, v in how.items() if k != "attribute"}, rng=seed)
    if json_path not in (None, "-"):
        check_target(json_path)
    with _progress() as progress:
        progress(0, "counting rows")
        table = as_table(data, _read_words(words))
        result = found(table, **how, reference=_references(table, stated), rng=seed)
    if json_path == "-":
        sys.stdout.write(result.to_json())
        return
    if json_path is not None:
        result.to_json(json_path)
    _print(result)


_CUTOFFS = (
    "attribute", "reference", "performance", "cost", "fairness", "require", "threshold", "allow_trivial", "by_group",
    "confidence", "bootstrap",
)  # fmt: skip


@cli.command()
@click.argument("runs")
@click.option("--method", metavar="COL", required=True, help="Column with the name of the method.")
@click.option("--performance", metavar="COL", required=True, help="Column with the performance (test results).")
@click.option("--fairness", metavar="COL", required=True, help="Column with the fairness (test results).")
@click.option("--dev-performance", metavar="COL", help="Column with the performance on development data, to select by.")
@click.option("--dev-fairness", metavar="COL", help="Column with the fairness on development data, to select by.")
@click.option(
    "--settings",
    metavar="COL[,COL…]",
    multiple=True,
    help="Columns that tell settings apart; rows alike in them are seeds.",
)
@click.option("--random-performance", metavar="P", type=float, help="Performance of a random guess, where areas start.")
@click.option(
    "--front",
    type=click.Choice(["dev", "published"]),
    default="dev",
    show_default=True,
    help="The front of development results, or of test results as published (which leaks).",
)
@click.option(
    "--lower-is-better",
    metavar="WHAT",
    multiple=True,
    help="performance, fairness or both, for an error or a gap: 1 - value is used.",
)
@click.option(
    "--fairness-floor",
    metavar="F[,F…]",
    multiple=True,
    help="Also select the best performance with at least this fairness.",
)
@click.option(
    "--performance-floor",
    metavar="P[,P…]",
    multiple=True,
    help="Also select the best fairness with at least this performance.",
)
@click.option("--baseline", metavar="NAME", help="Method whose results the margins add to.")
@click.option(
    "--margins",
    metavar="X[,X…]",
    multiple=True,
    help="Fairness above, performance below the baseline  [default: 0.05,0.1]",
)
@click.option("--utopia", metavar="P,F", help="Ideal performance and fairness  [default: 1,1]")
@click.option("--normalize", metavar="range|P,F", help="Divide the axes of the distance by their ranges, or by these.")
@click.option("--performance-from", metavar="P", type=float, help="Partial area: where performance is at least this.")
@click.option("--fairness-from", metavar="F", type=float, help="Partial area: where fairness is at least this.")
@click.option("--dto-to", metavar="D", type=float, help="Partial area: where the distance is at most this.")
@click.option(
    "--missing", type=click.Choice(["refuse", "drop"]), help="What to do with runs without results  [default: refuse]"
)
@click.option("--confidence", metavar="P", type=float, default=0.95, show_default=True, help="Level of intervals.")
@click.option(
    "--bootstrap", metavar="N", type=int, help="Number of resamples  [default: 1000, fewer for very many runs]"
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Seed of the resampling.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def compare(runs: str, json_path: str | None, seed: int, **words: Any) -> None:
    """Compare methods by their RUNS: a file with a row per method, setting and seed. Which trade-off is best?"""
    from evenhand.comparison import compare as run

    how = {k: v for k, v in words.items() if v not in (None, ())}
    for word in ("settings", "lower_is_better"):
        if word in how:
            how[word] = [name for text in how[word] for name in _split(text) if name]
    for word in ("fairness_floor", "performance_floor", "margins"):
        if word in how:
            how[word] = [number for text in how[word] for number in _numbers(text, word)]
    if "utopia" in how:
        how["utopia"] = _numbers(how["utopia"], "utopia")
    if how.get("normalize", "range") != "range":
        how["normalize"] = _numbers(how["normalize"], "normalize")
    if json_path not in (None, "-"):
        check_target(json_path)
    found = run(runs, **how, rng=seed)
    if json_path == "-":
        sys.stdout.write(found.to_json())
        return
    if json_path is not None:
        found.to_json(json_path)
    _print(found)


@cli.command()
@click.option("--n", metavar="N[,M]", help="People of each group, or of the group and of the reference.")
@click.option("--base-rate", metavar="P", type=float, required=True, help="The rate of the reference.")
@click.option("--gap", metavar="D", type=float, help="Rate of the group minus rate of the reference.")
@click.option(
    "--ratio",
    metavar="R",
    type=float,
    default=1.0,
    show_default=True,
    help="People of the reference for each of the group.",
)
@click.option("--power", metavar="P", type=float, default=0.8, show_default=True, help="Wanted power.")
@click.option("--level", metavar="P", type=float, default=0.05, show_default=True, help="Level of the test.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
def power(n: str | None, json_path: str | None, **words: Any) -> None:
    """Plan how many people it takes to find a gap: say --n or --gap, or both."""
    import textwrap

    from evenhand.planning import power as plan

    people: Any = None
    if n is not None:
        try:
            numbers = [int(part) for part in n.split(",")]
        except ValueError:
            raise UsageError(f"--n takes one or two whole numbers such as 200,1000, not {shown(n)}") from None
        people = numbers[0] if len(numbers) == 1 else tuple(numbers)
    if json_path not in (None, "-"):
        check_target(json_path)
    found = plan(people, **words)
    _deliver(found.to_dict(), "\n".join(textwrap.wrap(str(found), 80)), json_path)


@cli.command()
@click.argument("tables", nargs=-1, required=True, metavar="TABLE…")
@click.option("-o", "--output", metavar="TABLE", required=True, help="Where to write their sum.")
def merge(tables: tuple[str, ...], output: str) -> None:
    """Add up saved tables: the result is the table of all their rows."""
    from evenhand.storage import load

    total = load(tables[0])
    for path in tables[1:]:
        try:
            total = _added(total, load(path))
        except UsageError as error:
            raise UsageError(f"cannot add {shown(Path(path).name)}: {error}") from error
    total.save(output)
    click.echo(f"{total!r}\nsaved to {output}", err=True)


def _added(a: Any, b: Any) -> Any:
    if type(a) is not type(b):
        raise UsageError("one is a table of decisions or scores, the other one of classes (tabulate has --classes)")
    return a + b


@cli.command()
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
    from evenhand.advice import PRIORITIES, QUESTIONS
    from evenhand.advice import guide as advise

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
    from evenhand.advice import CLASS_QUESTIONS

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


def _read_words(words: dict[str, Any]) -> dict[str, Any]:
    """Command-line words as `tabulate` takes them; those not said are left out."""
    read = {k: v for k, v in words.items() if v is not None and v is not False and v != ()}
    if "where" in read:
        read["where"] = _where(read["where"])
    if "group" in read:
        read["group"] = _split(read["group"])
    if "score" in read:
        names = _split(read["score"])
        read["score"] = names[0] if len(names) == 1 else names
    if "score_range" in read:
        parts = read["score_range"].split(",")
        try:
            lo, hi = map(float, parts)
        except ValueError:
            raise UsageError(f"--score-range takes two numbers such as 0,1, not {shown(read['score_range'])}") from None
        read["score_range"] = (lo, hi)
    return read


def _where(stated: tuple[str, ...]) -> dict[str, list[str]]:
    """--where COL=V, or several values between commas."""
    chosen = {}
    for text in stated:
        column, equals, values = text.partition("=")
        if not equals or not column or not values or "" in (found := _split(values)):
            raise UsageError(f"--where takes COL=V or COL=V,V such as split=test,valid, not {shown(text)}")
        if column in chosen:
            raise UsageError(f"--where names {shown(column)} twice: put its values together, as in {column}=V,V")
        chosen[column] = found
    return chosen


def _split(text: str) -> list[str]:
    """Names between commas; a name that holds a comma is put in double quotes."""
    import csv

    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error as error:
        raise UsageError(
            f"{shown(text)} is no list of names between commas: put a name with a line break in double quotes"
        ) from error


def _numbers(text: str, word: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--{word.replace('_', '-')} takes numbers such as 0.65,0.7, not {shown(text)}") from None


def _number_or_word(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _references(table: Any, stated: tuple[str, ...]) -> str | dict[str, str] | None:
    """--reference V, or --reference COL=V for each of several columns; a group may be called 'a=b'."""
    names = [a.name for a in table.attributes]
    by_column = {}
    for text in stated:
        column, equals, value = text.partition("=")
        if equals and column in names:
            if column in by_column:
                raise UsageError(f"two references are given for {shown(column)}: choose one")
            by_column[column] = value
        elif len(stated) == 1:
            return text
        else:
            raise UsageError(f"with several references say COL=V for each, not {shown(text)}")
    return by_column or None


def _show(data: Any, words: dict[str, Any], how: dict[str, Any]) -> None:
    from evenhand.auditing import as_counts
    from evenhand.auditing import audit as run
    from evenhand.classaudit import checked_choices
    from evenhand.options import checked, chosen_measures

    json_path = how.pop("json_path")
    seed = how.pop("seed")
    stated = how.pop("reference")
    measures = how.pop("measures")
    ids = None if measures is None else [id_ for id_ in _split(measures) if id_]
    how["bandwidth"] = _number_or_word(how["bandwidth"])
    threshold = how.pop("threshold")
    models = {k: how.pop(k) for k in _MODELS if k in how}
    if threshold is not None:
        threshold = _numbers(threshold, "threshold")
        for one in threshold:
            checked(one, 0.95, 0, 0)
        threshold = threshold[0] if len(threshold) == 1 else threshold
    classes = checked_choices({k: how.pop(k) for k in _CLASSES if k in how})
    checked(None, **how, rng=seed)
    chosen_measures(ids)
    if json_path not in (None, "-"):
        check_target(json_path)
    with _progress() as progress:
        progress(0, "counting rows")
        table = as_counts(data, words)
        how |= {**classes, **models, "threshold": threshold, "reference": _references(table, stated), "measures": ids}
        result = run(table, **how, rng=seed, progress=progress)
    if json_path == "-":
        sys.stdout.write(result.to_json())
        return
    if json_path is not None:
        result.to_json(json_path)
    _print(result)


def _deliver(document: dict[str, Any], text: str, json_path: str | None) -> None:
    """JSON to standard output, or to a file beside the text."""
    from evenhand.files import write_text
    from evenhand.report.document import as_json

    if json_path == "-":
        sys.stdout.write(as_json(document))
        return
    if json_path is not None:
        write_text(json_path, as_json(document))
    sys.stdout.write(text + "\n")


def _print(result: Any) -> None:
    from rich.console import Console

    if not sys.stdout.isatty():
        sys.stdout.write(f"{result!r}\n")
        return
    console = Console(highlight=False, emoji=False, markup=False)
    console.width = min(console.width, 100)
    console.print(result)


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on standard error while a person is watching."""
    if not sys.stderr.isatty():
        yield lambda fraction, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda fraction, text: bar.update(task, completed=fraction, description=text[:40])


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0, or 2 with one sentence on standard error."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that knows no ≥ shows ? instead
    try:
        cli.main(arguments, prog_name="evenhand", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        _fail(error.format_message(), hint=isinstance(error, click.UsageError))
    except EvenhandError as error:
        _fail(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("evenhand: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone (`| head`): say nothing, also not when Python flushes at the end.
        _silence()
    except OSError as error:
        _silence()
        _fail(f"cannot write the result: {error.strerror or error}")
    except Exception as error:
        if os.environ.get("EVENHAND_DEBUG"):
            raise
        _fail(f"unexpected {type(error).__name__}: {error} (a bug; set EVENHAND_DEBUG=1 to see where)")


def _silence() -> None:
    """Let Python flush what is left of standard output into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, hint: bool = False) -> None:
    sentence = " ".join(message.split())
    sentence = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    click.echo(f"evenhand: {sentence}{' (try --help)' if hint else ''}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
