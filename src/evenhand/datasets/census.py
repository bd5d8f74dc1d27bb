"""Income of people in the US census: Adult, and KDD census income."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.datasets.dataset import Dataset, Texts, by_sex_and_race, check_truths, either, labels
from evenhand.datasets.openml import fetch
from evenhand.datasets.reading import Layout, parts, read_parts

ADULT = Layout(
    source="the UCI Machine Learning Repository, data set 'Adult'",
    columns=(
        "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
        "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
    ),
    numbers=frozenset({"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}),
    remarks=True,  # the first line of adult.test
)  # fmt: skip
ADULT_FILES = (("adult.data", "adult.test"), ("adult.data.gz", "adult.test.gz"))
ADULT_OPENML, KDD_OPENML = 1590, 4535

# The order of the description that comes with the data. The codes of industry, occupation, own business, veterans
# benefits and the year are names, not amounts.
KDD = Layout(
    source="the UCI Machine Learning Repository, data set 'Census-Income (KDD)'",
    columns=(
        "age", "class_of_worker", "industry_code", "occupation_code", "education", "wage_per_hour",
        "enrolled_in_education", "marital_status", "major_industry", "major_occupation", "race", "hispanic_origin",
        "sex", "union_member", "reason_for_unemployment", "employment_status", "capital_gains", "capital_losses",
        "dividends", "tax_filer_status", "region_of_previous_residence", "state_of_previous_residence",
        "household_status", "household_summary", "instance_weight", "migration_change_in_msa",
        "migration_change_in_region", "migration_move_within_region", "same_house_1_year_ago",
        "migration_from_sunbelt", "persons_worked_for_employer", "family_members_under_18", "country_of_birth_father",
        "country_of_birth_mother", "country_of_birth", "citizenship", "own_business", "veterans_questionnaire",
        "veterans_benefits", "weeks_worked", "year", "income",
    ),
    numbers=frozenset({
        "age", "wage_per_hour", "capital_gains", "capital_losses", "dividends", "instance_weight",
        "persons_worked_for_employer", "weeks_worked",
    }),
)  # fmt: skip
KDD_FILES = (
    ("kdd_census_train.csv.gz", "kdd_census_test.csv.gz"),
    ("census-income.data", "census-income.test"),
    ("census-income.data.gz", "census-income.test.gz"),
)
_MIGRATION = (
    "migration_change_in_msa", "migration_change_in_region", "migration_move_within_region", "migration_from_sunbelt",
)  # fmt: skip


def adult(path: Any = None, *, complete: bool = True, published_groups: bool = False) -> Dataset:
    """Adult (UCI): does a person earn more than 50 000 dollars a year?

    Parameters
    ----------
    path
        A folder with adult.data and adult.test, or one of the two; None asks OpenML.
    complete
        Leave out people with an unknown value: 45 222 of 48 842 stay. With False an unknown value is the text '?'.
    published_groups
        Add the attributes on which Table 1 of Han, Jiang et al. (2023) was really computed. Its loader means to
        drop unknown values but does not, so its fixed column numbers fall on `relationship = Own-child` (printed as
        gender) and `relationship = Unmarried` (printed as race), of all 48 842 people: use `complete=False` for them.

    Groups are `sex`, `race`, and `race_white` (White or Non-white). The sampling weight `fnlwgt` is no feature.
    """
    check_truths(complete=complete, published_groups=published_groups)
    columns, split = _read(path, ADULT, ADULT_FILES, ADULT_OPENML)
    label = labels(_bare(columns.pop("income")), [">50K"], ["<=50K"], "the income of Adult")
    groups = by_sex_and_race(columns["sex"], columns["race"])
    notes = []
    if published_groups:
        for group, value, printed in (
            ("relationship_own_child", "Own-child", "gender"),
            ("relationship_unmarried", "Unmarried", "race"),
        ):
            groups[group] = either(columns["relationship"] == value, value, f"not {value}")
            notes.append(f"{group} is what Table 1 of Han, Jiang et al. (2023) calls {printed}: a slip of its loader")
    people = Dataset(
        "adult", columns, label, "income", "more than 50 000 dollars a year", groups, split, tuple(notes), ("fnlwgt",)
    )
    return _complete(people, ["?"]) if complete else people


def kdd_census(path: Any = None, *, complete: bool = False, distinct: bool = False) -> Dataset:
    """KDD census income (UCI): does a person, child or adult, earn more than 50 000 dollars a year?

    Parameters
    ----------
    path
        A folder with kdd_census_train.csv.gz and kdd_census_test.csv.gz, or with UCI's census-income.data and
        census-income.test, or one of these files; None asks OpenML.
    complete
        Leave out the four columns on migration, which half of all people lack, and then people with an unknown value:
        the 284 556 'clean instances' of Han, Jiang et al. (2023). With False all 299 285 stay, with '?' for
        what is unknown.
    distinct
        Keep one of several identical rows, as the loader that its authors published later does: 292 550 stay.

    Groups are `sex`, `race`, and `race_white` (White or Non-white). `instance_weight` is no feature.
    """
    check_truths(complete=complete, distinct=distinct)
    columns, split = _read(path, KDD, KDD_FILES, KDD_OPENML)
    label = labels(_bare(columns.pop("income")), ["50000+"], ["-50000"], "the income of KDD census")
    note = "sex is the 13th column and race the 11th, as the description says and their values show"
    people = Dataset(
        "kdd_census", columns, label, "income", "more than 50 000 dollars a year",
        by_sex_and_race(columns["sex"], columns["race"]), split, (note,), ("instance_weight",),
    )  # fmt: skip
    if distinct:
        people = _distinct(people)
    return _complete(people, ["?", "NA"], without=_MIGRATION) if complete else people


def _read(path: Any, layout: Layout, files: Any, openml: int) -> tuple[dict[str, NDArray[Any]], Any]:
    if path is None:
        return fetch(openml, layout), None
    return read_parts(parts(path, files, layout.source), layout)


def _bare(values: Texts) -> Texts:
    """Text without blanks and full stops: the files for tests end their labels with one."""
    spelling = {v: v.replace(" ", "").replace(".", "") for v in set(values.tolist())}
    return np.array([spelling[v] for v in values], object)


def _complete(people: Dataset, unknown: list[str], without: tuple[str, ...] = ()) -> Dataset:
    """People of whom everything is known, in the columns that stay."""
    columns = {name: values for name, values in people.columns.items() if name not in without}
    gaps = {name: np.isin(values, unknown) for name, values in columns.items() if values.dtype == object}
    bad = {name: int(gap.sum()) for name, gap in gaps.items() if gap.any()}
    gone = np.logical_or.reduce(list(gaps.values()))
    where = ", ".join(f"{name} {count:,}" for name, count in bad.items())
    notes = [f"left out {len(without)} columns that half of all people lack: {', '.join(without)}"] if without else []
    if bad:
        notes.append(f"left out {int(gone.sum()):,} of {len(people):,} people with an unknown value ({where})")
    return replace(people, columns=columns, notes=(*people.notes, *notes)).take(~gone)


def _distinct(people: Dataset) -> Dataset:
    """One of several identical rows."""
    rows = list(zip(*(v.tolist() for v in people.columns.values()), people.label.tolist(), strict=True))
    first: dict[Any, int] = {}
    for place, row in enumerate(rows):
        first.setdefault(row, place)
    note = f"left out {len(rows) - len(first):,} of {len(rows):,} rows that repeat another one"
    return replace(people, notes=(*people.notes, note)).take(list(first.values()))
