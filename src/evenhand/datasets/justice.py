"""COMPAS: ProPublica's table of defendants and what became of them in two years."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.datasets.dataset import Dataset, check_truths, labels
from evenhand.datasets.reading import Layout, one_file, read

COMPAS = Layout(
    source="ProPublica's repository 'compas-analysis'",
    columns=(
        "sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count",
        "c_charge_degree", "decile_score", "score_text", "days_b_screening_arrest", "is_recid", "two_year_recid",
    ),
    numbers=frozenset({
        "age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "decile_score",
        "days_b_screening_arrest", "is_recid",
    }),
    header=True,
)  # fmt: skip
FILE = "compas-scores-two-years.csv"


def compas(path: Any, *, filtered: bool = False) -> Dataset:
    """COMPAS (ProPublica): does a defendant stay free of new charges for two years?

    `path` is compas-scores-two-years.csv or a folder with it. `filtered` keeps the 6 172 of 7 214 people that
    ProPublica's analysis keeps: charged within 30 days of the screening, with a known outcome, no ordinary traffic
    offence. Groups are `sex` and `race`. The scores of COMPAS, `decile_score` and `score_text`, are columns but no
    features, and high ones are bad for the person. Names and dates are not read. `evenhand.compas()` has the built-in
    counts of two groups, without a file.
    """
    check_truths(filtered=filtered)
    columns = read(one_file(path, [FILE], COMPAS.source), COMPAS)
    label = labels(columns.pop("two_year_recid"), ["0"], ["1"], "two_year_recid of COMPAS")
    days, outcome = columns.pop("days_b_screening_arrest"), columns.pop("is_recid")
    people = Dataset(
        "compas", columns, label, "no_recidivism", "no new charge within two years",
        {"sex": columns["sex"], "race": columns["race"]},
        notes=(
            ("left out people not charged within 30 days of the screening, without a known outcome or with an "
             "ordinary traffic offence, as ProPublica does",) if filtered else ()
        ),
        aside=("decile_score", "score_text"),
    )  # fmt: skip
    if not filtered:
        return people
    chosen = (np.abs(days) <= 30) & (outcome != -1) & (columns["c_charge_degree"] != "O")
    return people.take(chosen & (columns["score_text"] != "N/A"))
