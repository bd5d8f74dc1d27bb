"""An experiment from a TOML file, with the line of whatever is wrong in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from evenhand.analyses.options import checked_axes
from evenhand.errors import EvenhandError, UsageError, nearest, shown
from evenhand.files.paths import as_path, shown_path
from evenhand.files.toml import Places, known, read_toml
from evenhand.files.toml_lines import Path
from evenhand.learn.experiments.plan import Method, checked_fractions, checked_seeds, checked_splits, strengths_of
from evenhand.learn.experiments.sources import Source
from evenhand.learn.experiments.workers import settled_jobs

EXPERIMENT = (
    "folder", "seeds", "splits", "performance", "fairness", "fractions", "own_split", "jobs", "device",
)  # fmt: skip
DATASET = ("name", "reader", "path", "group", "exclude", "label", "favorable", "options")
METHOD = ("name", "label", "strengths")
DEVICES = ("auto", "cpu", "cuda")


def read_config(path: Any) -> dict[str, Any]:
    """The words of `experiment` from a file; paths in it are meant from its folder."""
    if not os.path.exists(as_path(path)):
        raise UsageError(f"there is no file {shown_path(path)}: evenhand experiment --init writes one to begin with")
    document, places = read_toml(path, "experiment")
    home = as_path(path).parent
    known(document, ("experiment", "dataset", "method"), (), places, "[experiment], [[dataset]] and [[method]]")
    words = _experiment(document.get("experiment", {}), places)
    if "folder" in words:
        words["folder"] = os.fspath(home / as_path(words["folder"]))
    words["datasets"] = [_dataset(t, i, places, home) for i, t in enumerate(_tables(document, "dataset", places))]
    words["methods"] = [_method(t, i, places) for i, t in enumerate(_tables(document, "method", places))]
    for key, some in (("dataset", words["datasets"]), ("method", words["methods"])):
        for i, one in enumerate(some):
            if one.name in [other.name for other in some[:i]]:
                how = 'reader = "adult"' if key == "dataset" else 'label = "another name"'
                raise places.refuse((key, i), f"{key} {shown(one.name)} is there twice: give it another name ({how})")
    return words


# ---- its parts --------------------------------------------------------------------------------------------------


def _experiment(table: Any, places: Places) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise places.refuse(("experiment",), f"[experiment] is a table, not {shown(table)}")
    known(table, EXPERIMENT, ("experiment",), places, f"[experiment] has {', '.join(EXPERIMENT)}")
    checks: dict[str, Any] = {
        "folder": lambda v: _is_text("folder", v),
        "seeds": checked_seeds,
        "splits": checked_splits,
        "fractions": checked_fractions,
        "performance": lambda v: checked_axes(v),
        "fairness": lambda v: checked_axes(fairness=v),
        "jobs": lambda v: settled_jobs(v, "cpu", True),
        "device": _is_device,
        "own_split": _is_truth,
    }
    for key, value in table.items():
        _tried(lambda key=key, value=value: checks[key](value) if key in checks else None, places, ("experiment", key))
    return dict(table)


def _dataset(table: Mapping[str, Any], i: int, places: Places, home: Any) -> Source:
    known(table, DATASET, ("dataset", i), places, f"a data set has {', '.join(DATASET)}")
    words = dict(table)
    for key in ("name", "group"):
        if not isinstance(words.get(key), str) or not words[key]:
            example = "adult" if key == "name" else "sex"
            raise places.refuse(("dataset", i, key), f'a data set needs its {key}, such as {key} = "{example}"')
    for key in ("path", "label", "reader"):
        if key in words:
            _tried(lambda key=key: _is_text(key, words[key]), places, ("dataset", i, key))
    hidden = words.get("exclude", [])
    hidden = [hidden] if isinstance(hidden, str) else hidden
    if not isinstance(hidden, list) or not all(isinstance(name, str) for name in hidden):
        raise places.refuse(("dataset", i, "exclude"), f"exclude is a list of columns, not {shown(hidden)}")
    if not isinstance(words.get("options", {}), Mapping):
        raise places.refuse(
            ("dataset", i, "options"), f"options is a table such as {{complete = false}}, not {shown(words['options'])}"
        )
    words["exclude"] = tuple(hidden)
    if "path" in words:
        words["path"] = os.fspath(home / as_path(words["path"]))
    words["said_at"] = f"{places.file}, line {places.line(('dataset', i))}"
    found: Source = _tried(lambda: Source(**words), places, ("dataset", i, "name"))
    return found


def _method(table: Mapping[str, Any], i: int, places: Places) -> Method:
    words = dict(table)
    maker = words.pop("name", None)
    if not isinstance(maker, str) or not maker:
        raise places.refuse(("method", i, "name"), 'a method needs its name, such as name = "reg", or "module:Class"')
    name = words.pop("label", maker.rpartition(":")[2])
    if not isinstance(name, str) or not name:
        raise places.refuse(("method", i, "label"), f"label is how the method is called in results, not {shown(name)}")
    strengths = words.pop("strengths", None)
    plain: Method = _tried(lambda: Method(name, maker), places, ("method", i, "name"))
    for option, value in words.items():
        try:
            Method(name, maker, {option: value})
        except UsageError as error:
            meant = "" if "did you mean" in str(error) else nearest(option, METHOD)
            raise places.refuse(("method", i, option), f"{error}{meant}") from None
    if strengths is not None:
        strengths = _tried(lambda: strengths_of(plain, {name: strengths}), places, ("method", i, "strengths"))
    return Method(name, maker, words, strengths)


# ---- what is wrong ----------------------------------------------------------------------------------------------


def _tables(document: Mapping[str, Any], key: str, places: Places) -> list[Mapping[str, Any]]:
    found = document.get(key, [])
    if isinstance(found, Mapping) or not isinstance(found, list) or not all(isinstance(t, Mapping) for t in found):
        raise places.refuse((key,), f"write [[{key}]], with two brackets on each side, above each {key}")
    if not found:
        raise UsageError(f"{places.file} has no {key}: write a [[{key}]] (evenhand experiment --init shows how)")
    return found


def _tried(what: Any, places: Places, path: Path) -> Any:
    """Do it, and say where in the file its mistake is."""
    try:
        return what()
    except EvenhandError as error:
        raise places.refuse(path, error) from None


def _is_text(key: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{key} is a text, not {shown(value)}")


def _is_truth(value: Any) -> None:
    if not isinstance(value, bool):
        raise UsageError(f"own_split is true or false, not {shown(value)}")


def _is_device(value: Any) -> None:
    """Only the word: the machine may be told another one."""
    if value not in DEVICES:
        raise UsageError(f"device is 'auto', 'cpu' or 'cuda', not {shown(value)}")


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
