"""Tables 1 and 2 of Han, Jiang et al. 2023: a plain network, REG and ADV, over random splits.

docs/reproduced/table-one.md tells what the published code really does, and what that makes of Table 1.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

import evenhand
from evenhand import datasets
from evenhand.analyses.options import checked_axes
from evenhand.datasets import Dataset
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.published.printed import COLUMNS, PEOPLE, TABLES, printed_row
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.learn import Experiment, Method
    from evenhand.learn.experiments.experiment import Step

Figures = dict[str, NDArray[np.float64]]
"""Splits × columns of the table in percent, by method."""

# What the published scripts say; the size of a batch is their default, which agrees with the table (256 does not).
NETWORK = {"hidden": [128, 128, 128], "dropout": 0.5, "batch_size": 512}
ALONE = {**NETWORK, "epochs": 10}
GAME = {**NETWORK, "epochs": 39, "warm_up": 10, "adversary_steps": "epoch"}
ADV_STRENGTH = 170.0
SHARES, ADV_SHARES = (0.7, 0.1, 0.2), (0.4, 0.3, 0.3)
NUMBERS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
SPLITS = 10
"""As published."""
JOBS: int | Literal["auto"] = "auto"


@dataclass(frozen=True)
class Case:
    """People, whose groups are compared, what models do not see, and the printed rows to compare with."""

    people: Dataset
    group: str
    hidden: tuple[str, ...]
    rows: tuple[str, str]
    """The data set and the attribute, as the paper calls them."""
    corrected: bool = False
    """With REG on ABCC as well, and scores without noise; otherwise as the published code does it."""


# ---- the people ------------------------------------------------------------------------------------------------------


def printed_adult(path: Path) -> Dataset:
    """Adult as the published loader really prepares it.

    All 48 842 rows. Numbers become tenths, but all five by the quantiles of standardised age. Of every other value two
    features say whether a person has it or not; education, weight and country are dropped, of race and sex White and
    Male stay. Column 39, meant to be sex, is left out: it is `relationship = Own-child`.
    """
    people = datasets.adult(path, complete=False, published_groups=True)
    scaled = {name: (v - v.mean()) / v.std() for name, v in ((n, people.columns[n]) for n in NUMBERS)}
    edges = np.quantile(scaled["age"], np.linspace(0, 1, 11))
    columns: dict[str, Any] = {}
    for name, values in scaled.items():
        tenth = np.digitize(values, edges).clip(1, 10) - 1
        columns |= {f"{name} {i}": (tenth == i).astype(np.int64) for i in range(10)}
    kept = {"sex": ["Male"], "race": ["White"], "native_country": ["?"]}
    for name in ("workclass", "marital_status", "occupation", "relationship", "sex", "race", "native_country"):
        for value in kept.get(name, sorted(set(people.columns[name].tolist()) - {"Own-child"})):
            has = (people.columns[name] == value).astype(np.int64)
            columns |= {f"{name} {value}": has, f"{name} not {value}": 1 - has}
    return replace(people, columns=columns, aside=())  # numbers: 0 and 1 are standardised too, as published


def adult_as_printed(data: Path) -> Iterator[Case]:
    """The groups that the published code really compares."""
    people = printed_adult(data)
    yield Case(replace(people, name="Unmarried"), "relationship_unmarried", (), ("Adult", "race"))
    yield Case(replace(people, name="Own-child"), "relationship_own_child", (), ("Adult", "gender"))


def adult_corrected(data: Path) -> Iterator[Case]:
    """Race and sex themselves, of people of whom everything is known."""
    people = datasets.adult(data)
    yield Case(replace(people, name="race"), "race_white", ("sex",), ("Adult", "race"), True)
    yield Case(replace(people, name="sex"), "sex", ("sex",), ("Adult", "gender"), True)


def kdd_census(data: Path) -> Iterator[Case]:
    """The label is to earn at most 50 000 dollars, as the printed AP shows."""
    people = datasets.kdd_census(data, complete=True)
    people = replace(people, label=1 - people.label, favorable="at most 50 000 dollars")
    two = people.take(np.isin(people.groups["race"], ["White", "Black"]))
    yield Case(replace(two, name="race"), "race", ("race",), ("KDD census", "race"))
    yield Case(replace(people, name="sex"), "sex", ("sex",), ("KDD census", "gender"))


def acs_income(data: Path) -> Iterator[Case]:
    """All states whose files are there; race is White against all others, and jobs are two digits of their codes."""
    people = datasets.acs("income", None, folder=data)
    jobs = np.array([code.zfill(4)[:2] for code in people.columns["OCCP"]], object)  # 500 values would be too many
    people = replace(people, columns={**people.columns, "OCCP": jobs})
    yield Case(replace(people, name="race"), "race_white", ("RAC1P",), ("ACS-Income", "race"))
    yield Case(replace(people, name="sex"), "sex", ("SEX",), ("ACS-Income", "gender"))


def acs_employment(data: Path) -> Iterator[Case]:
    people = datasets.acs("employment", None, folder=data)
    yield Case(replace(people, name="sex"), "sex", ("SEX",), ("ACS-Employment", "gender"))


# ---- the runs --------------------------------------------------------------------------------------------------------


def methods(case: Case) -> Iterator[tuple[list[Method], tuple[float, float, float]]]:
    """The methods of the table and the shares they learn, select and are tested on."""
    from evenhand.learn import Method

    own = "evenhand.learn.methods.dropping:Dropping"
    reg, adv = ("reg", "adv") if case.corrected else (f"{own}REG", f"{own}ADV")
    alone = [
        Method("MLP", reg, {**ALONE, "loss": "mean_gap"}, (0.0,)),
        Method("REG", reg, {**ALONE, "loss": "mean_gap"}, (1.0,)),
    ]
    if case.corrected:
        alone.append(Method("REG with ABCC", reg, {**ALONE, "loss": "abcc"}, (1.0,)))
    yield alone, SHARES
    yield [Method("ADV", adv, GAME, (ADV_STRENGTH,))], ADV_SHARES


@contextmanager
def kept(setting: Setting, name: str) -> Iterator[Path]:
    """The folder where runs are kept, or one that goes when they have been read."""
    if setting.runs is not None:
        yield setting.runs / name
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def trained(
    case: Case, chosen: Sequence[Method], shares: tuple[float, float, float], setting: Setting, folder: Path,
    splits: int, told: tuple[float, float] = (0.0, 1.0),
) -> Experiment:  # fmt: skip
    """The experiment; progress goes from one share to the other."""
    from evenhand.learn import experiment

    def tell(step: Step) -> None:
        start, end = told
        setting.progress(start + (end - start) * step.done / step.total, str(step.run or case.people.name))

    return experiment(
        case.people, chosen, splits=splits, seeds=(setting.seed,), group=case.group, exclude=case.hidden,
        fractions=shares, own_split=False, folder=folder, jobs=JOBS, progress=tell,
    )  # fmt: skip


def measured(table: Table) -> list[float]:
    """The columns of the table, in percent."""
    performances, gaps = list(COLUMNS)[:2], list(COLUMNS)[2:]
    found = evenhand.audit(table, measures=gaps, bootstrap=0, permutations=0)
    assert isinstance(found, evenhand.Audit)
    from evenhand.learn.experiments.run import performance_of

    good = [performance_of(table, checked_axes(id_, "abcc")) for id_ in performances]
    return [100 * v for v in (*(np.nan if v is None else v for v in good), *(found.measure(i).value for i in gaps))]


def figures(found: Experiment) -> Figures:
    """What the runs come to, by method."""
    by: dict[str, list[list[float]]] = {}
    for method, run in zip(found.runs["method"], found.runs["run"], strict=True):
        by.setdefault(method, []).append(measured(found.table(run)))
    return {method: np.array(rows) for method, rows in by.items()}


def repeated(case: Case, setting: Setting, told: tuple[float, float] = (0.0, 1.0)) -> Figures:
    """All methods on a case."""
    start, end = told
    middle = start + (end - start) / 3
    found: Figures = {}
    name = f"{'corrected' if case.corrected else 'printed'}-{'-'.join(case.rows).replace(' ', '-')}"
    with kept(setting, name) as folder:
        for (chosen, shares), part in zip(methods(case), ((start, middle), (middle, end)), strict=True):
            done = trained(case, chosen, shares, setting, folder, SPLITS if setting.full else 1, part)
            found |= figures(done)
    return found


# ---- theirs beside ours ----------------------------------------------------------------------------------------------


def values(rows: tuple[str, str], found: Figures) -> Iterator[Value]:
    """Each figure beside the printed one; those without a spread are held to half of their last digit."""
    for method, table in found.items():
        printed = printed_row(rows, method) if method in TABLES[rows] else None
        for place, (title, mean) in enumerate(zip(COLUMNS.values(), table.mean(0), strict=True)):
            row = f"{rows[0]}, {rows[1]}: {method}"
            if printed is None:
                yield Value(row, title, None, float(mean))
            else:
                value, spread = printed[place]
                yield Value(row, title, value, float(mean), max(spread, 0.005))


def observations(by: Mapping[tuple[str, str], Figures]) -> Iterator[Claim]:
    """The three observations of section 6.3, for all rows together."""
    dp_b, dp_c, abpc, abcc = range(2, 6)
    mean = {rows: {m: t.mean(0) for m, t in found.items()} for rows, found in by.items()}

    def claim(says: str, holds: Callable[[Any], bool], seen: Callable[[Any], str]) -> Claim:
        every = [f"{rows[1]} {seen(m)}" for rows, m in mean.items()]
        return Claim(says, all(holds(m) for m in mean.values()), "; ".join(every))

    def of(column: int) -> Callable[[Any], str]:
        return lambda m: ", ".join(f"{name} {m[name][column]:.2f}" for name in ("MLP", "REG", "ADV"))

    yield claim("Observation 1: REG has a lower ΔDP_c than MLP", lambda m: m["REG"][dp_c] < m["MLP"][dp_c], of(dp_c))
    yield claim("Observation 1: its ΔDP_b stays high, more than half of that of MLP",
                lambda m: m["REG"][dp_b] > m["MLP"][dp_b] / 2, of(dp_b))  # fmt: skip
    yield claim("Observation 2: ADV has a lower ABPC than REG", lambda m: m["ADV"][abpc] < m["REG"][abpc], of(abpc))
    yield claim("Observation 2: ADV has a lower ABCC than REG", lambda m: m["ADV"][abcc] < m["REG"][abcc], of(abcc))
    yield claim("Observation 3: ADV pays for it, with more than 1 % of the accuracy",
                lambda m: m["ADV"][0] < 0.99 * m["MLP"][0], of(0))  # fmt: skip


def table(setting: Setting, cases: Callable[[Path], Iterator[Case]]) -> Outcome:
    """All rows about a data set."""
    assert setting.data is not None
    every = list(cases(setting.data))
    found: dict[tuple[str, str], Figures] = {}
    for place, case in enumerate(every):
        found[case.rows] = repeated(case, setting, (place / len(every), (place + 1) / len(every)))
    name = every[0].rows[0]
    people = max(len(case.people) for case in every)
    numbers = [v for rows, of in found.items() for v in values(rows, of)]
    notes = [] if setting.full else [f"one split; with --full {SPLITS}, as published"]
    notes += [note for note in every[0].people.notes if note]
    if every[0].corrected:
        notes.append("printed figures are those of other groups: of own children and of unmarried people")
    return Outcome(
        (Value(name, "people", PEOPLE[name], people), *numbers), tuple(observations(found)), notes=tuple(notes)
    )
