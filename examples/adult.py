"""Train a model on the Adult census data, audit it by sex and race, and write the page.

    python examples/adult.py adult.data adult.test --html adult.html --scores adult.csv

The two files are those of the UCI Machine Learning Repository. Needs pandas and scikit-learn
(pip install 'evenhand[charts,pandas]' scikit-learn). The model sees neither sex nor race. `--scores` keeps the people
with their scores, for other commands.
"""

from __future__ import annotations

import argparse

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import evenhand

COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
    "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
]  # fmt: skip
NUMBERS = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
CATEGORIES = ["workclass", "marital_status", "occupation"]


def read(path: str) -> pd.DataFrame:
    """One of the two files: the one for tests begins with a remark and ends its labels with a full stop."""
    data = pd.read_csv(path, names=COLUMNS, skipinitialspace=True, comment="|", na_values="?")
    data["high_income"] = data["income"].str.startswith(">50K").astype(int)
    return data


def model() -> Pipeline:
    columns = make_column_transformer(
        (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), CATEGORIES), remainder="drop"
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def scored(train: str, test: str) -> pd.DataFrame:
    """The people of the second file with the probability that the model gives them."""
    fitted, people = read(train), read(test)
    people["probability"] = model().fit(fitted, fitted["high_income"]).predict_proba(people)[:, 1]
    return people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--html", default="adult.html")
    parser.add_argument("--scores")
    said = parser.parse_args()
    people = scored(said.train, said.test)
    if said.scores:
        people.drop(columns=["fnlwgt", "income"]).to_csv(said.scores, index=False)
    audit = evenhand.audit(people, score="probability", label="high_income", group=["sex", "race"])
    audit.to_html(said.html)
    print(audit)
    print(f"The page is in {said.html}")


if __name__ == "__main__":
    main()
