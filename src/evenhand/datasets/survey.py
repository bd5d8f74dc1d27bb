"""The American Community Survey, through folktables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from evenhand.datasets.dataset import Dataset, by_sex_and_race, check_truths
from evenhand.datasets.reading import whole
from evenhand.errors import DataError, MissingLibrary, UsageError, listed, nearest, shown
from evenhand.files.paths import as_path, is_file, shown_path
from evenhand.ingest.values import name_of


class Task(NamedTuple):
    """What folktables calls a task, what its label is called, and what the favourable outcome is."""

    problem: str
    label: str
    favorable: str
    reverse: bool = False
    """Whether folktables' positive class is the unfavourable one."""


TASKS = {
    "income": Task("ACSIncome", "income", "more than 50 000 dollars a year"),
    "employment": Task("ACSEmployment", "employed", "is employed"),
    "public_coverage": Task("ACSPublicCoverage", "covered", "has public health insurance"),
    "mobility": Task("ACSMobility", "same_home", "lives where they lived a year ago"),
    "travel_time": Task("ACSTravelTime", "short_commute", "travels at most 20 minutes to work", reverse=True),
}
STATES = (
    "AL:01 AK:02 AZ:04 AR:05 CA:06 CO:08 CT:09 DE:10 FL:12 GA:13 HI:15 ID:16 IL:17 IN:18 IA:19 KS:20 KY:21 LA:22 ME:23 "
    "MD:24 MA:25 MI:26 MN:27 MS:28 MO:29 MT:30 NE:31 NV:32 NH:33 NJ:34 NM:35 NY:36 NC:37 ND:38 OH:39 OK:40 OR:41 PA:42 "
    "RI:44 SC:45 SD:46 TN:47 TX:48 UT:49 VT:50 VA:51 WA:53 WV:54 WI:55 WY:56 PR:72"
)
"""Those of folktables, with the numbers in the names of their files."""
NUMBERS = frozenset({"AGEP", "WKHP", "JWMNP", "PINCP", "POVPIP"})
_SEX = {"1": "Male", "2": "Female"}
_RACE = {
    "1": "White", "2": "Black", "3": "American Indian", "4": "Alaska Native", "5": "American Indian or Alaska Native",
    "6": "Asian", "7": "Pacific Islander", "8": "Other", "9": "Two or more races",
}  # fmt: skip


def acs(
    task: str = "income",
    states: Sequence[str] | None = ("CA",),
    *,
    year: int = 2018,
    folder: str | os.PathLike[str] = "data",
    download: bool = False,
) -> Dataset:
    """American Community Survey (folktables): income, employment, public_coverage, mobility or travel_time.

    `folder` is where folktables keeps its files; with `download=True` it fetches what is not there, which needs a
    network. `states` are their two letters; None stands for all whose files are there. Numbers are AGEP, WKHP, JWMNP,
    PINCP and POVPIP; all other columns are codes, kept as text. Groups are `sex`, `race` and `race_white` (White or
    Non-white).
    """
    if not isinstance(task, str) or task not in TASKS:
        raise UsageError(f"task must be one of {listed(TASKS)}, not {shown(task)}{nearest(task, TASKS)}")
    if states is None:
        states = _states_in(folder, year)
    states = [states] if isinstance(states, str) else states
    if not isinstance(states, Sequence) or not states or not all(isinstance(state, str) for state in states):
        raise UsageError(f"states are two letters each, such as ['CA', 'NV'], not {shown(states)}")
    if isinstance(year, bool) or not isinstance(year, int | np.integer):
        raise UsageError(f"year is a whole number such as 2018, not {shown(year)}")
    check_truths(download=download)
    if not find_spec("folktables"):
        raise MissingLibrary("the American Community Survey needs folktables: pip install 'evenhand[acs]'")
    folktables: Any = import_module("folktables")
    described = TASKS[task]
    source = folktables.ACSDataSource(
        survey_year=str(year), horizon="1-Year", survey="person", root_dir=os.fspath(as_path(folder))
    )
    try:
        people = source.get_data(states=list(states), download=download)
    except (OSError, ValueError) as error:
        raise DataError(
            f"folktables cannot get the survey of {year} for {', '.join(states)} from {shown(os.fspath(folder))} "
            f"({error}): name the folder that holds its files, or pass download=True where there is a network"
        ) from error
    features, label, _ = getattr(folktables, described.problem).df_to_pandas(people)
    columns = {str(name): _column(str(name), features[name]) for name in features.columns}
    outcome = np.asarray(label).reshape(-1).astype(np.int64)
    return Dataset(
        f"acs_{task}",
        columns,
        1 - outcome if described.reverse else outcome,
        described.label,
        described.favorable,
        by_sex_and_race(_named(columns["SEX"], _SEX), _named(columns["RAC1P"], _RACE)),
        notes=(f"survey of {year}: {', '.join(states)}",),
    )


def _states_in(folder: str | os.PathLike[str], year: Any) -> list[str]:
    """The states whose files folktables has put into a folder."""
    numbers = {number: state for state, number in (pair.split(":") for pair in STATES.split())}
    place = as_path(folder) / str(year) / "1-Year"
    found = [numbers[n] for n in sorted(numbers) if is_file(place / f"psam_p{n}.csv")]
    if not found:
        raise DataError(
            f"there is no file such as {shown_path(place / 'psam_p06.csv')}: name the states and pass download=True "
            "where there is a network"
        )
    return found


def _column(name: str, values: Any) -> Any:
    if name in NUMBERS:
        return whole(np.asarray(values, np.float64))
    return np.array([name_of(v) or "?" for v in values.tolist()], object)


def _named(codes: Any, names: dict[str, str]) -> Any:
    return np.array([names.get(code, code) for code in codes], object)
