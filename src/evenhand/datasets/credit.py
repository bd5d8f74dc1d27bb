"""German credit: is a loan a good risk?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.datasets.dataset import Dataset, Texts, either, labels
from evenhand.datasets.openml import fetch
from evenhand.datasets.reading import Layout, one_file, read

_SOURCE = "the UCI Machine Learning Repository, data set 'Statlog (German Credit Data)'"
SIMPLE = Layout(
    source=f"{_SOURCE}, or as a table with the columns Age, Sex, … and Risk",
    columns=(
        "Age", "Sex", "Job", "Housing", "Saving accounts", "Checking account", "Credit amount", "Duration", "Purpose",
        "Risk",
    ),
    numbers=frozenset({"Age", "Credit amount", "Duration"}),
    header=True,
)  # fmt: skip
UCI = Layout(
    source=_SOURCE,
    columns=(
        "checking_status", "duration", "credit_history", "purpose", "credit_amount", "savings", "employment",
        "installment_rate", "personal_status", "other_debtors", "residence_since", "property", "age",
        "other_installment_plans", "housing", "existing_credits", "job", "dependents", "telephone", "foreign_worker",
        "risk",
    ),
    numbers=frozenset({
        "duration", "credit_amount", "installment_rate", "residence_since", "age", "existing_credits", "dependents",
    }),
    delimiter=" ",
)  # fmt: skip
FILES = ("german_credit_data.csv", "german.data")
OPENML = 31
_MEN, _WOMEN = ("A91", "A93", "A94"), ("A92", "A95")


def german(path: Any = None) -> Dataset:
    """German credit (UCI): is a loan a good risk?

    `path` is the table german_credit_data.csv (ten columns and Risk), UCI's german.data (20 attributes, blanks between
    them), or a folder with one of them; None asks OpenML for the latter. Groups are `sex` and `age_group` (25 or
    younger, or over 25).
    """
    if path is None:
        return _of_uci(fetch(OPENML, UCI))
    file = one_file(path, FILES, SIMPLE.source)
    return _of_uci(read(file, UCI)) if _is_uci(file) else _of_table(read(file, SIMPLE))


def _is_uci(file: Path) -> bool:
    """Whether a file has UCI's codes: it has no header, and begins with the status of an account."""
    try:
        with file.open("rb") as stream:
            return stream.read(2) == b"A1"
    except OSError:
        return False  # whoever reads the whole will say why it cannot be read


def _of_table(columns: dict[str, NDArray[Any]]) -> Dataset:
    columns = {name.lower().replace(" ", "_"): values for name, values in columns.items()}
    unknown = [name for name in ("saving_accounts", "checking_account") if np.isin(columns[name], ("", "NA")).any()]
    for name in unknown:
        columns[name] = np.where(np.isin(columns[name], ("", "NA")), "none", columns[name])
    notes = (f"an empty {' or '.join(unknown)} is the value 'none': there is no account, or none is known",)
    return _dataset(columns, columns["sex"], notes if unknown else ())


def _of_uci(columns: dict[str, NDArray[Any]]) -> Dataset:
    """The codes of personal status and sex tell men from women; OpenML spells them out."""
    status = columns["personal_status"]
    spelling = {v: v.split()[0] if v.startswith(("male ", "female ")) else v for v in set(status.tolist())}
    plain = np.array([spelling[v] for v in status], object)
    man = labels(plain, ["male", *_MEN], ["female", *_WOMEN], "the personal status of German credit")
    return _dataset(columns, either(man == 1, "male", "female"), ())


def _dataset(columns: dict[str, NDArray[Any]], sex: Texts, notes: tuple[str, ...]) -> Dataset:
    label = labels(columns.pop("risk"), ["good", "1"], ["bad", "2"], "the risk of German credit")
    groups = {"sex": sex, "age_group": either(columns["age"] > 25, "over 25", "25 or younger")}
    return Dataset("german", columns, label, "risk", "the loan is a good risk", groups, None, notes)
