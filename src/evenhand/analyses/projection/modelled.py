"""People as a model scores them: rows and features of a file or dataframe, or arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.analyses.projection.criteria import How
from evenhand.analyses.projection.inputs import NEEDS_LABEL
from evenhand.analyses.projection.logistic import Linear, Probabilities, scored_by
from evenhand.analyses.projection.pair_test import Scored
from evenhand.errors import UsageError, listed
from evenhand.ingest.engines import engine_of, names_of
from evenhand.ingest.model_files import load_model
from evenhand.ingest.model_inputs import held
from evenhand.ingest.people import as_columns
from evenhand.ingest.resolve import as_table
from evenhand.ingest.roles import Roles


def of_model(
    model: Any, data: Any, roles: Roles, features: Any, trust: Sequence[str], unsafe_pickle: bool, how: How
) -> Scored:
    """People of a file or dataframe as a model scores them. It is given its own columns, or all but the roles."""
    if roles.risk:
        raise UsageError(
            "a model's score is that of its favourable class (favorable=), so it is no risk: leave out risk="
        )
    said = {role: column for role, column in roles.said().items() if role in ("label", "group", "weight", "cluster")}
    if roles.label is None and None not in how.labels:
        raise UsageError(f"{NEEDS_LABEL}: name the column of outcomes (label=)")
    if isinstance(model, str | os.PathLike):
        model = load_model(model, trust=trust, unsafe_pickle=unsafe_pickle)
    columns = list(names_of(as_columns(data)))
    own = getattr(model, "feature_names_in_", None)
    if features is None:
        taken = [c for column in said.values() for c in ([column] if isinstance(column, str) else column)]
        features = [c for c in columns if c not in taken] if own is None else [str(c) for c in own]
    absent = [name for name in features if name not in columns]
    if absent:
        raise UsageError(f"the model takes {listed(absent)}, but the data have {listed(columns)}: name its columns")
    people, X = held(data, columns), held(data, list(features))
    if own is None and hasattr(model, "n_features_in_") and not isinstance(X, dict):
        X = np.asarray(X)  # it was fitted on columns without names
    found = scored_by(model, X, 1 if roles.favorable is None else roles.favorable)
    values = engine_of(people).code.values(people, columns)
    group, label = (values.get(name) if isinstance(name, str) else name for name in (_one(roles.group), roles.label))
    return modelled(found, people, roles, group, label)


def _one(group: Any) -> Any:
    return group[0] if isinstance(group, list | tuple) and len(group) == 1 else group


def modelled(found: Linear | Probabilities, data: Any, roles: Roles, group: Any, label: Any) -> Scored:
    """People as a model scores them, in the order of its rows."""
    if isinstance(found, Probabilities):
        return Scored(as_table(data, replace(roles, score=found.p)), False, None, found.notes)
    table = as_table(data, replace(roles, score=found.z))
    # Which rows were taken, only the table knows.
    rows = None if roles.where else replace(found, group=group, label=label)
    return Scored(table, True, found.norm, found.notes, rows)
