"""What the page and the Markdown of an experiment say: which method wins on which data; then runs, failures, people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.analyses.compare.contents import answered, contents as compared, sections as trade_offs
from evenhand.errors import shown_name
from evenhand.learn.experiments.document import fairness_name, one_line
from evenhand.report.contents import (
    Cell,
    Contents,
    Mood,
    Name,
    Number,
    Part,
    Points,
    Section,
    Sheet,
    count,
    figure,
    several,
)

MOST_DATASETS = 3
"""So many answers stand in the headline."""
EXACT = 1e-9
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """The comparison of methods on every data set, and all runs behind it."""
    answers = {name: answered(one) for name, one in document["comparisons"].items()}
    moods: list[Mood] = [mood for _, mood in answers.values()]
    alone = len(document["datasets"]) == 1
    said = [] if alone else [f"{len(answers):,} of {several(len(document['datasets']), 'data set')} are compared."]
    for name, one in document["comparisons"].items():
        told = " ".join(compared(one).said)
        said.append(told if alone else f"On {shown_name(name)}: {told}")
    return Contents(
        title="Experiment",
        about=list(_about(document)),
        answer=_answer(answers, alone),
        said=[*said, *_lost(document)],
        mood="warn" if "warn" in moods or document["failed"] or not answers else "plain",
        sections=list(_sections(document, alone)),
        notes=document["notes"],
        options=document["options"],
    )


def _answer(answers: dict[str, tuple[str, Mood]], alone: bool) -> str:
    if not answers:
        return "Methods are not compared"
    told = [answer if alone else f"{answer} on {shown_name(name)}" for name, (answer, _) in answers.items()]
    more = len(told) - MOST_DATASETS
    return "; ".join(told[:MOST_DATASETS]) + (f"; and {more:,} more data sets" if more > 0 else "")


def _about(document: Document) -> Iterator[str]:
    yield f"{len(document['runs']):,} of {several(document['planned'], 'run')}"
    yield several(len(document["datasets"]), "data set")
    yield f"performance: {document['options']['performance'].replace('_', ' ')}"
    yield f"fairness: {fairness_name(document['options']['fairness'])}"


def _lost(document: Document) -> Iterator[str]:
    """Runs that failed, that have no result, and those that seem to treat all alike by scoring everybody alike."""
    runs, failed = document["runs"], len(document["failed"])
    if failed:
        methods = Counter(one["method"] for one in document["failed"])
        whose = ", ".join(f"{shown_name(name)} {n:,}" for name, n in methods.most_common(5))
        yield f"{several(failed, 'run')} failed ({whose})."
    without = sum(run["performance"] is None or run["fairness"] is None for run in runs)
    if without:
        yield f"{several(without, 'run')} {'has' if without == 1 else 'have'} no performance or no fairness."
    alike = [run for run in runs if run["fairness"] is not None and run["fairness"] >= 1 - EXACT]
    if alike:
        methods = Counter(run["method"] for run in alike)
        whose = ", ".join(f"{shown_name(name)} {n:,}" for name, n in methods.most_common(5))
        yield (
            f"{several(len(alike), 'run')} ({whose}) {'has' if len(alike) == 1 else 'have'} a fairness of exactly 1: a "
            "model that has collapsed and treats everybody alike has it too, so look at the performance."
        )


def _sections(document: Document, alone: bool) -> Iterator[Section]:
    for i, (name, one) in enumerate(document["comparisons"].items()):
        if alone:
            yield from trade_offs(one)
        else:
            about = f" on {shown_name(name)}"
            parts = [part for section in trade_offs(one, about) if not section.minor for part in section.parts]
            yield Section(f"methods-{i}", f"Methods{about}", parts)
    yield Section("means", "Every setting", [_means(document["runs"])])
    if document["failed"]:
        yield Section("failed", "Runs that failed", [_failed(document["failed"])])
    if document["warnings"]:
        often = sorted(document["warnings"], key=lambda one: -one["runs"])
        lines = [f"{several(one['runs'], 'run')}: {one_line(one['text'])}" for one in often]
        yield Section("warnings", "Warnings of methods", [Points(lines)])
    yield Section("people", "People", list(_people(document["datasets"])))


def _means(runs: list[Document]) -> Sheet:
    """Test results, the mean over seeds and splits."""
    settings: dict[tuple[Any, ...], list[Document]] = {}
    for run in runs:
        settings.setdefault((run["dataset"], run["method"], run["strength"]), []).append(run)
    rows: list[list[Cell]] = [
        [
            Name(dataset), Name(method), Number(f"{strength:g}", strength), count(len(some)),
            *(_mean([run[key] for run in some]) for key in ("performance", "fairness")),
        ]
        for (dataset, method, strength), some in settings.items()
    ]  # fmt: skip
    some_lack = any(run[key] is None for run in runs for key in ("performance", "fairness"))
    legend = "(n): the mean of n runs only; the others have no such number." if some_lack else None
    heads = ("data set", "method", "strength", "runs", "performance", "fairness")
    return Sheet("Means over seeds and splits (test results, higher is better)", heads, rows, ("method",), legend, True)


def _mean(values: Sequence[float | None]) -> Number:
    known = [v for v in values if v is not None]
    mean = figure(sum(known) / len(known) if known else None)
    return Number(f"{mean.text} ({len(known):,})", mean.value) if 0 < len(known) < len(values) else mean


def _failed(failed: list[Document]) -> Sheet:
    reasons = Counter((one["dataset"], one["method"], one["reason"]) for one in failed)
    rows: list[list[Cell]] = [
        [Name(method), Name(dataset), one_line(reason), count(runs)]
        for (dataset, method, reason), runs in reasons.most_common()
    ]
    return Sheet("By method, the most frequent first", ("method", "data set", "why", "runs"), rows, ("data set", "why"))


def _people(datasets: dict[str, Document]) -> Iterator[Part]:
    """Who trains, selects and tests, by group; and what the data sets have to say."""
    lines = []
    for name, about in datasets.items():
        rows: list[list[Cell]] = [
            [Name(g["name"]), *(count(g[part]) for part in about["people"])] for g in about["groups"]
        ]
        rows.append(["all", *(count(n) for n in about["people"].values())])
        parts = {"train": "train", "dev": "select", "test": "test"}
        heads = (shown_name(about["attribute"]), *(parts.get(part, part) for part in about["people"]))
        yield Sheet(f"People of {shown_name(name)} by {shown_name(about['attribute'])}", heads, rows)
        lines += [f"{shown_name(name)}: {note}" for note in about["notes"]]
        if about["not_compared"] is not None:
            lines.append(f"{shown_name(name)}: methods are not compared: {about['not_compared']}")
    if lines:
        yield Points(lines)
