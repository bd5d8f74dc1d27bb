"""The command that asks what would be, had people been of another group."""

from __future__ import annotations

import os
from typing import Any

import click

from evenhand.cli.files import MODEL, READ
from evenhand.cli.options import COMPLETE, NAMES, NUMBER, NUMBERS, command, given, option, shared, under
from evenhand.cli.output import progress_bar, say, wanted, write
from evenhand.errors import shown_name


@command("data")
@under(
    "Model",
    option("--model", metavar="M", type=MODEL, required=True, help="A .skops or .onnx file, or package.module:name."),
    option("--features", metavar="COL[,COL…]", callback=NAMES,
           help="Columns the model takes, in its order  [default: its own, or all]"),
    option("--trust", metavar="TYPE", multiple=True, help="A type in a .skops file that you know to be harmless."),
    option("--unsafe-pickle", is_flag=True, help="Load a pickle, which can run any code."),
)  # fmt: skip
@under(
    "Columns",
    option("--attribute", metavar="COL", required=True, help="Column of groups."),
    option("--categories", metavar="COL[,COL…]", callback=NAMES,
           help="Columns to be taken as names, not numbers."),
    option("--numbers", metavar="COL[,COL…]", callback=NAMES, help="Columns that must be numbers, such as 007."),
    option("--text", metavar="COL[,COL…]", callback=NAMES,
           help="Columns that stay text, also for the model, though they hold digits."),
    shared("missing", type=COMPLETE,
           help="What to do with people without a value in a column of the graph  [default: refuse]"),
)  # fmt: skip
@under(
    "Decision",
    shared("threshold", default=0.5, type=NUMBER, help="Favourable at scores ≥ T (--risk: < T)."),
    shared("favorable", help="Favourable class of a classifier  [default: 1]"),
    "risk",
    option("--tolerance", metavar="X", type=NUMBER, default=0.05, help="A change beyond it counts."),
)
@under(
    "Causal model",
    option("--graph", metavar="G", type=READ, multiple=True,
           help="What causes what: a file, or 'sex -> job -> pay'; several for a range."),
    option("--mechanisms", type=click.Choice(["auto", "linear", "flexible", "boosted"]), default="auto",
           help="How variables follow from their causes; auto is what does better held out."),
    option("--confounding", metavar="S[,S…]", callback=NUMBERS,
           help="Shares that a hidden cause may account for  [default: -0.5 to 1]"),
)  # fmt: skip
@under("Inference", "confidence", shared("bootstrap", default=100), "seed")
@under("Output")
def counterfactual(data: str, model: str, graph: tuple[str, ...], seed: int, **options: Any) -> None:
    """Ask what would become of people's scores in DATA, had they been of another group.

    Without a --graph only the attribute is flipped, which says nothing about what it does to other columns.
    """
    from evenhand.analyses.counterfactual.counterfactual import counterfactual_fairness
    from evenhand.ingest.model_files import is_import

    paths = wanted(options)
    graphs = graph[0] if len(graph) == 1 else {_called(one, graph): one for one in graph} or None
    if is_import(model):
        module = shown_name(model.partition(":")[0])
        say(f"importing {module}, from the current folder if it is there, runs its code")
    with progress_bar() as progress:
        found = counterfactual_fairness(model, data, graph=graphs, rng=seed, progress=progress, **given(options))
    write(found, paths)


def _called(graph: str, graphs: tuple[str, ...]) -> str:
    """A graph by the name of its file, or by its place."""
    name = os.path.splitext(os.path.basename(graph))[0]
    alone = "->" not in graph and sum(os.path.splitext(os.path.basename(g))[0] == name for g in graphs) == 1
    return name if alone else f"world {graphs.index(graph) + 1}"
