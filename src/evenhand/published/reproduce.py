"""Run what the five documents publish again, and put ours beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evenhand.errors import EvenhandError, UsageError, names_in, truth, unknown, whole_number
from evenhand.files.paths import as_path, shown_path
from evenhand.published.item import Item, Outcome, Setting
from evenhand.published.registry import chosen, missing
from evenhand.report.charts.chart import Chart
from evenhand.report.result import Result, write


@dataclass(frozen=True)
class Run:
    """An item, and what came out, or why it was not run."""

    item: Item
    outcome: Outcome | None
    why_not: str = ""


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """Published tables and figures, ours beside theirs."""

    runs: tuple[Run, ...]
    full: bool
    seed: int

    def plots(self) -> tuple[str, ...]:
        """The charts of all items, by id; the second of an item ends with -2."""
        return tuple(self._drawings())

    def plot(self, name: str | None = None) -> Chart:
        """A chart; without a name the first."""
        drawings = self._drawings()
        if not drawings:
            raise UsageError("nothing that was run has a chart")
        if name is None:
            name = next(iter(drawings))
        if name not in drawings:
            raise unknown("there is no chart", name, list(drawings))
        return drawings[name]

    def _drawings(self) -> dict[str, Chart]:
        from evenhand.published.document import drawings

        return {name: chart for run in self.runs for name, chart in drawings(run).items()}

    def to_html(self, path: str | Path | None = None) -> str:
        """One page of everything that was run, with its charts."""
        from evenhand.published.page import reproduction_page

        return write(reproduction_page(self.to_dict(), self._drawings()), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The same as Markdown: the page of reproductions in the documentation is made by this."""
        from evenhand.published.markdown import reproduction_markdown

        return write(reproduction_markdown(self.to_dict()), path)


def reproduce(
    names: str | Iterable[str] = "all",
    *,
    data: str | Path | None = None,
    runs: str | Path | None = None,
    full: bool = False,
    rng: int = 0,
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> Reproduction:
    """Run published tables and figures again, as far as their data are there.

    Parameters
    ----------
    names
        What to run: ids such as "becker-table-1", a document ("becker"), all of a kind ("becker-table"), what is called
        so in any document ("Table 1"), or "all". What takes minutes is run if it is named alone, or with `full`.
    data
        The folder with the data sets, such as compas-scores-two-years.csv and adult.data.
    runs
        A folder for trained models, with which a stopped reproduction goes on; without it they are not kept.
    full
        With as many replications, splits and resamples as published; otherwise fewer.
    rng
        The seed.

    >>> import evenhand
    >>> found = evenhand.reproduce("becker-table-1")
    >>> found.to_dict()["items"][0]["status"]
    'agrees'
    """
    named = [names] if isinstance(names, str) else names_in("names", names)
    picked = chosen(named)
    alone = {found[0].id for name in named if name != "all" and len(found := chosen([name])) == 1}
    seed = whole_number("rng", rng, 0)
    kept = None if runs is None else as_path(runs)
    setting = Setting(_folder(data), kept, truth("full", full), seed)
    done = []
    for place, item in enumerate(picked):
        progress(place / len(picked), item.id)
        within = replace(setting, progress=partial(_within, progress, place, len(picked), item.id))
        done.append(_run(item, within, item.id in alone, len(picked) == 1))
    return Reproduction(tuple(done), setting.full, seed)


def _within(
    progress: Callable[[float, str], None], place: int, items: int, name: str, fraction: float, text: str
) -> None:
    """The progress of one item, as its share of all."""
    progress((place + fraction) / items, f"{name}: {text}")


def _folder(data: str | Path | None) -> Path | None:
    """The folder with the data sets, which is there."""
    if data is None:
        return None
    folder = as_path(data)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {shown_path(data)}: name the one with the data sets")
    return folder


def _run(item: Item, setting: Setting, named: bool, only: bool) -> Run:
    if item.run is None:
        return Run(item, None, item.lacks)
    why_not = missing(item, setting.data)
    if not why_not and item.slow and not (named or setting.full):
        why_not = f"takes minutes: evenhand reproduce {item.id}, or --full"
    if why_not:
        return Run(item, None, why_not)
    try:
        return Run(item, item.run(setting))
    except EvenhandError as error:  # a file that is not what it should be: other items do not wait for it
        if named and only:
            raise
        return Run(item, None, str(error))
