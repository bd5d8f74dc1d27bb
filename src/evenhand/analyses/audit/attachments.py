"""Sections of other results in the page of an audit: one page for whoever has to sign a model off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evenhand.analyses.counterfactual import page as counterfactual
from evenhand.analyses.individual import page as individual
from evenhand.analyses.projection import page as projection
from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.files.json_text import parsed
from evenhand.files.paths import read_small, shown_path
from evenhand.report.page.figures import Room

Section = tuple[str, str, Any]
SECTIONS: dict[str, Callable[[dict[str, Any], Room], list[Section]]] = {
    "evenhand/individual/1": individual.sections,
    "evenhand/counterfactual/1": counterfactual.sections,
    "evenhand/projection/1": projection.sections,
    "evenhand/projections/1": projection.sections,
}
"""What can stand in another page, by the schema of its document."""
MOST_BYTES = 50_000_000


def read_document(path: Any) -> Any:
    """What another command wrote as JSON."""
    try:
        content = read_small(path, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error
    if content is None:
        raise UsageError(f"{shown_path(path)} has more than {MOST_BYTES // 10**6} MB, so it is no JSON of a result")
    try:
        return parsed(content)
    except DataError as error:
        raise UsageError(f"--also takes the JSON of a result, but {shown_path(path)} is none: {error}") from None


def documents(also: Any) -> list[dict[str, Any]]:
    """Results, or what they wrote as JSON, as documents that have sections."""
    given = also if isinstance(also, Sequence) and not isinstance(also, str | bytes) else [also]
    results = [one.to_dict() if hasattr(one, "to_dict") else one for one in given]
    for document in results:
        schema = document.get("schema") if isinstance(document, dict) else None
        if schema not in SECTIONS:
            raise UsageError(
                "also= (--also) takes results of individual or counterfactual fairness, or projection tests, or JSON "
                f"of them ({listed(SECTIONS)}), not {shown(schema or document)}"
            )
    return results


def sections(also: list[dict[str, Any]], room: Room) -> list[Section]:
    """The sections of each document, under ids of their own."""
    all_sections: list[Section] = []
    for place, document in enumerate(also):
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):  # numbers that no result has
                parts = SECTIONS[document["schema"]](document, room)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise DataError(
                f"this JSON says it is {shown(document['schema'])}, but it is not complete ({type(error).__name__}: "
                f"{error}): write it again"
            ) from error
        all_sections += [(id_ if place == 0 else f"{id_}-{place}", heading, content) for id_, heading, content in parts]
    return all_sections
