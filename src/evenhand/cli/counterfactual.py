"""The command that asks what would be, had people been of another group."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from evenhand.cli.options import NUMBER, WHOLE, numbers, split
from evenhand.cli.output import progress_bar, reader_gone, views, wanted, write


@click.command()
@click.argument("data")
@click.option("--model", metavar="M", required=True, help="A .skops or .onnx file, or package.module:name.")
@click.option("--attribute", metavar="COL", required=True, help="Column that divides people into groups.")
@click.option(
    "--graph", metavar="G", multiple=True, help="What causes what: a file, or 'sex -> job -> pay'; several for a range."
)
@click.option(
    "--features", metavar="COL[,COL…]", help="Columns the model takes, in its order  [default: its own, or all]"
)
@click.option("--mechanisms", type=click.Choice(["linear", "boosted"]), default="linear", show_default=True,
              help="How variables follow from their causes.")  # fmt: skip
@click.option("--threshold", metavar="T", type=NUMBER, default=0.5, show_default=True,
              help="Favourable at scores ≥ T (risk scores: < T).")  # fmt: skip
@click.option("--favorable", metavar="V", default="1", show_default=True, help="The good class of a classifier.")
@click.option("--risk", is_flag=True, help="A high score is bad for the person.")
@click.option("--tolerance", metavar="X", type=NUMBER, default=0.05, show_default=True,
              help="A change beyond it counts.")  # fmt: skip
@click.option("--categories", metavar="COL[,COL…]", help="Columns of the graph to be taken as names, not numbers.")
@click.option("--numbers", metavar="COL[,COL…]", help="Columns of the graph that must be numbers.")
@click.option(
    "--confounding", metavar="S[,S…]", help="Shares that a hidden cause may account for  [default: -0.5 to 1]"
)
@click.option("--missing", type=click.Choice(["refuse", "drop"]), default="refuse", show_default=True,
              help="What to do with people without a value in a column of the graph.")  # fmt: skip
@click.option("--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--bootstrap", metavar="N", type=WHOLE, default=100, show_default=True, help="Resamples; 0 for none.")
@click.option("--trust", metavar="TYPE", multiple=True, help="A type in a .skops file that you know to be harmless.")
@click.option("--unsafe-pickle", is_flag=True, help="Load a pickle, which can run any code.")
@click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Seed of the resampling.")
@views
def counterfactual(data: str, seed: int, **words: Any) -> None:
    """Ask what would become of people's scores in DATA, had they been of another group.

    Without a --graph only the attribute is flipped, which says nothing about what it does to other columns.
    """
    from evenhand.analyses.counterfactual.counterfactual import counterfactual_fairness
    from evenhand.analyses.counterfactual.sensitivity import GRID

    paths = wanted(words, data, *filter(os.path.isfile, (words["model"], *words["graph"])))
    for word in ("features", "categories", "numbers"):
        words[word] = None if words[word] is None else split(words[word])
    columns: dict[str, Any] = {word: words.pop(word) or () for word in ("categories", "numbers")}
    shares = words.pop("confounding")
    graphs = words.pop("graph")
    graph = None if not graphs else graphs[0] if len(graphs) == 1 else {_called(g, graphs): g for g in graphs}
    sys.path.insert(0, os.getcwd())  # a model of the current directory can be imported
    with progress_bar() as progress:
        found = counterfactual_fairness(
            words.pop("model"), data, graph=graph, rng=seed, progress=progress, **columns, **words,
            confounding=GRID if shares is None else numbers(shares, "confounding"),
        )  # fmt: skip
    with reader_gone():
        write(found, paths)
        sys.stdout.flush()


def _called(graph: str, graphs: tuple[str, ...]) -> str:
    """A graph by the name of its file, or by its place."""
    name = os.path.splitext(os.path.basename(graph))[0]
    alone = "->" not in graph and sum(os.path.splitext(os.path.basename(g))[0] == name for g in graphs) == 1
    return name if alone else f"world {graphs.index(graph) + 1}"
