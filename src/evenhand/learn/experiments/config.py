"""An experiment from a TOML file, with the line of whatever is wrong in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from evenhand.analyses.options import checked_axes
from evenhand.datasets.dataset import check_truths
from evenhand.errors import EvenhandError, UsageError, nearest, shown
from evenhand.files.paths import as_path, shown_path
from evenhand.files.toml import Places, known, read_toml
from evenhand.files.toml_lines import Path
from evenhand.learn.experiments.plan import Method, checked_seeds, strengths_of
from evenhand.learn.experiments.sources import Source
from evenhand.learn.experiments.splits import checked_fractions, checked_splits
from evenhand.learn.experiments.workers import check_device, settle_jobs

EXPERIMENT = (
    "folder", "seeds", "splits", "performance", "fairness", "fractions", "own_split", "jobs", "device",
)  # fmt: skip
DATASET = ("name", "reader", "path", "group", "exclude", "label", "favorable", "options")
METHOD = ("name", "label", "strengths")


def read_config(path: Any) -> dict[str, Any]:
    """The arguments of `experiment` from a file; paths in it are meant from its folder."""
    if not os.path.exists(as_path(path)):
        raise UsageError(f"there is no file {shown_path(path)}: evenhand experiment --init writes one to begin with")
    document, places = read_toml(path, "experiment")
    home = as_path(path).parent
    known(document, ("experiment", "dataset", "method"), (), places, "[experiment], [[dataset]] and [[method]]")
    arguments = _experiment(document.get("experiment", {}), places)
    if "folder" in arguments:
        arguments["folder"] = os.fspath(home / as_path(arguments["folder"]))
    datasets = [_dataset(t, i, places, home) for i, t in enumerate(_tables(document, "dataset", places))]
    methods = [_method(t, i, places) for i, t in enumerate(_tables(document, "method", places))]
    _check_names(datasets, "dataset", 'reader = "adult"', places)
    _check_names(methods, "method", 'label = "another name"', places)
    return {**arguments, "datasets": datasets, "methods": methods}


def own_methods(path: Any) -> list[str]:
    """The modules that a file of an experiment imports, which runs their code: those of methods "module:Class"."""
    if not os.path.exists(as_path(path)):
        return []
    document, places = read_toml(path, "experiment")
    names = [str(table.get("name")) for table in _tables(document, "method", places)]
    return list(dict.fromkeys(name.partition(":")[0] for name in names if ":" in name))


def _check_names(some: Sequence[Source | Method], key: str, how: str, places: Places) -> None:
    names = [one.name for one in some]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise places.refuse((key, i), f"{key} {shown(name)} is there twice: give it another name ({how})")


# ---- its parts --------------------------------------------------------------------------------------------------


def _experiment(table: Any, places: Places) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise places.refuse(("experiment",), f"[experiment] is a table, not {shown(table)}")
    known(table, EXPERIMENT, ("experiment",), places, f"[experiment] has {', '.join(EXPERIMENT)}")
    checks: dict[str, Any] = {
        "folder": lambda v: _check_text("folder", v),
        "seeds": checked_seeds,
        "splits": checked_splits,
        "fractions": checked_fractions,
        "performance": checked_axes,
        "fairness": lambda v: checked_axes(fairness=v),
        "jobs": lambda v: settle_jobs(v, "cpu", True),
        "device": check_device,  # only the name: another machine may have a GPU
        "own_split": lambda v: check_truths(own_split=v),
    }
    for key, value in table.items():
        with _located(places, ("experiment", key)):
            checks[key](value)
    return dict(table)


def _dataset(table: Mapping[str, Any], i: int, places: Places, home: Any) -> Source:
    known(table, DATASET, ("dataset", i), places, f"a data set has {', '.join(DATASET)}")
    arguments = dict(table)
    for key, example in (("name", "adult"), ("group", "sex")):
        if not isinstance(table.get(key), str) or not table[key]:
            raise places.refuse(("dataset", i, key), f'a data set needs its {key}, such as {key} = "{example}"')
    for key in ("path", "label", "reader"):
        if key in table:
            with _located(places, ("dataset", i, key)):
                _check_text(key, table[key])
    hidden = table.get("exclude", [])
    hidden = [hidden] if isinstance(hidden, str) else hidden
    if not isinstance(hidden, list) or not all(isinstance(name, str) for name in hidden):
        raise places.refuse(("dataset", i, "exclude"), f"exclude is a list of columns, not {shown(hidden)}")
    if not isinstance(table.get("options", {}), Mapping):
        raise places.refuse(
            ("dataset", i, "options"), f"options is a table such as {{complete = false}}, not {shown(table['options'])}"
        )
    arguments["exclude"] = tuple(hidden)
    if "path" in arguments:
        arguments["path"] = os.fspath(home / as_path(arguments["path"]))
    with _located(places, ("dataset", i, "name")):
        return Source(**arguments, said_at=f"{places.file}, line {places.line(('dataset', i))}")


def _method(table: Mapping[str, Any], i: int, places: Places) -> Method:
    options = dict(table)
    maker = options.pop("name", None)
    if not isinstance(maker, str) or not maker:
        raise places.refuse(("method", i, "name"), 'a method needs its name, such as name = "reg", or "module:Class"')
    name = options.pop("label", maker.rpartition(":")[2])
    if not isinstance(name, str) or not name:
        raise places.refuse(("method", i, "label"), f"label is how the method is called in results, not {shown(name)}")
    strengths = options.pop("strengths", None)
    with _located(places, ("method", i, "name")):
        plain = Method(name, maker)
    for option, value in options.items():
        try:
            Method(name, maker, {option: value})
        except UsageError as error:
            meant = "" if "did you mean" in str(error) else nearest(option, METHOD)
            raise places.refuse(("method", i, option), f"{error}{meant}") from None
    if strengths is not None:
        with _located(places, ("method", i, "strengths")):
            strengths = strengths_of(plain, {name: strengths})
    return Method(name, maker, options, strengths)


# ---- what is wrong ----------------------------------------------------------------------------------------------


def _tables(document: Mapping[str, Any], key: str, places: Places) -> list[Mapping[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(t, Mapping) for t in tables):
        raise places.refuse((key,), f"write [[{key}]], with two brackets on each side, above each {key}")
    if not tables:
        raise UsageError(f"{places.file} has no {key}: write a [[{key}]] (evenhand experiment --init shows how)")
    return tables


@contextmanager
def _located(places: Places, path: Path) -> Iterator[None]:
    """Whatever is refused inside is refused with its line in the file."""
    try:
        yield
    except EvenhandError as error:
        raise places.refuse(path, error) from None


def _check_text(key: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{key} is a text, not {shown(value)}")


STARTER = """\
# For `evenhand experiment experiment.toml`: every method at every strength, with every seed, on every split.
# Killed or stopped, it goes on where it was when it is started again. Paths are meant from the folder of this file.

[experiment]
folder = "runs"                 # where every finished run is kept
seeds = [0, 1, 2]
splits = 1                      # random splits of the people into training, selection and test
performance = "accuracy"        # or balanced_accuracy, auroc, average_precision, log_loss, brier
fairness = "abcc"               # any measure of `evenhand guide`; 1 - its value is compared
# fractions = [0.6, 0.2, 0.2]   # that train, that select, that test
# own_split = true              # keep the test people of data sets that have them
# jobs = 4                      # processes; by default one for each core
# device = "cpu"                # or cuda; by default a GPU if there is one and a method may use it

[[dataset]]
name = "adult"                  # acs, adult, compas, german, kdd_census
path = "data"                   # the folder or file that holds it
group = "sex"
exclude = ["sex"]               # what models do not see

# [[dataset]]                   # the same people by another attribute
# name = "adult by race"
# reader = "adult"              # which data set it is, where name does not say so
# path = "data"
# group = "race_white"
# exclude = ["race"]
# options = {complete = false}  # of the function that reads it

# [[dataset]]                   # any CSV file
# name = "loans"
# path = "loans.csv"
# label = "repaid"              # the column of outcomes, of which there are two
# favorable = 1                 # the good one
# group = "sex"

[[method]]
name = "mlp"                    # a plain network: nothing to trade

[[method]]
name = "reg"                    # further keys are options of the method
strengths = [0.1, 0.3, 1.0, 3.0]

# [[method]]
# name = "reg"
# label = "reg with abpc"       # how it is called in results, where one method is there several times
# loss = "abpc"
# epochs = 20
# strengths = [0.1, 0.3, 1.0, 3.0]

# [[method]]
# name = "my_methods:Fairer"    # your own: a class with strength, random_state, fit and predict_proba
# strengths = [0.0, 0.5, 1.0]
"""
