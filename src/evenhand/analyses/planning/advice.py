"""What the guide recommends: measures and why, the command that computes them, and running it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from evenhand.errors import UsageError
from evenhand.measures.registry import RateMeasure, find
from evenhand.report.result import Result

PLACEHOLDERS = {"model": "MODEL", "graph": "GRAPH", "positive": "CLASS"}
"""What stands for an option that the user fills in; of others COL, a column."""
NEEDED = {"individual": ("score",), "counterfactual": ("model", "attribute")}
"""What an analysis cannot do without; saved tables know the columns of the others."""


@dataclass(frozen=True, repr=False)
class Advice(Result):
    """Which measures fit, and why; `command` computes them, and so does `run`."""

    measures: tuple[str, ...]
    why: str
    beware: str | None = None
    analysis: str = "audit"
    """The command that computes them: audit, individual, counterfactual or aggregate."""
    columns: tuple[str, ...] = ("score", "label", "group")
    """Options of the command that depend on the data."""

    @property
    def command(self) -> str:
        """The command that computes it, with DATA and COL where names of the user's own stand."""
        own = (f"--{name} {PLACEHOLDERS.get(name, 'COL')}" for name in self.columns)
        return " ".join(("evenhand", self.analysis, "DATA", *own, *self._words(self.settings())))

    def settings(self, given: Collection[str] = ()) -> dict[str, Any]:
        """Options that follow from the advice, by name, beside those given.

        Of decisions without scores only what compares decisions is computed, if anything is.
        """
        if self.analysis != "audit":
            return {}
        decisions = "prediction" in given and "score" not in given
        some = [m for m in self.measures if isinstance(of := find(m), RateMeasure) and of.levels == "decision"]
        return {"measures": some if decisions and some else list(self.measures)}

    def arguments(self, data: str, options: Collection[str]) -> list[str]:
        """The words of the command that computes it of data, but for `evenhand`; options that are stated win.

        >>> advice = Advice(("demographic_parity", "abcc"), "", columns=("score", "group"))
        >>> " ".join(advice.arguments("people.csv", ["--score", "p", "--group", "sex"]))
        'audit people.csv --measures demographic_parity,abcc --score p --group sex'
        >>> " ".join(advice.arguments("people.csv", ["--prediction=hired", "--group", "sex"]))
        'audit people.csv --measures demographic_parity --prediction=hired --group sex'
        """
        stated = {word[2:].partition("=")[0].replace("-", "_") for word in options if word.startswith("--")}
        ours = {name: value for name, value in self.settings(stated).items() if name not in stated}
        return [self.analysis, data, *(word for pair in self._words(ours) for word in pair.split(" ")), *options]

    def run(self, data: Any, **options: Any) -> Any:
        """Compute it of data, with the options of the analysis, such as its columns; those stated win.

        >>> people = {"p": [0.9, 0.6, 0.4, 0.2, 0.9, 0.8, 0.7, 0.3], "sex": list("ffffmmmm")}
        >>> advice = Advice(("demographic_parity", "abcc"), "", columns=("score", "group"))
        >>> audit = advice.run(people, score="p", group="sex", reference="m")
        >>> [(m.id, round(m.value, 3)) for m in audit.attributes[0].measures]
        [('demographic_parity', 0.25), ('abcc', 0.15)]
        """
        lacking = [f"{name}=" for name in NEEDED.get(self.analysis, ()) if options.get(name) is None]
        if lacking:
            raise UsageError(f"to run this advice say {' and '.join(lacking)} (as in {self.command})")
        options = {**self.settings(options), **options}
        if self.analysis == "individual":
            from evenhand.analyses.individual.individual import individual_fairness

            return individual_fairness(data, **options)
        if self.analysis == "counterfactual":
            from evenhand.analyses.counterfactual.counterfactual import counterfactual_fairness

            return counterfactual_fairness(options.pop("model"), data, **options)
        if self.analysis == "aggregate":
            from evenhand.analyses.classes.aggregate import aggregate

            return aggregate(data, **options)
        from evenhand.analyses.entry import audit

        return audit(data, **options)

    @staticmethod
    def _words(settings: dict[str, Any]) -> list[str]:
        """Options as they are written; an exponent may begin with a minus."""
        said = {name.replace("_", "-"): ",".join(v) if isinstance(v, list) else v for name, v in settings.items()}
        return [f"--{name}={v}" if name.startswith("across") else f"--{name} {v}" for name, v in said.items()]

    def __str__(self) -> str:
        return str(self._drawn())  # a sentence is not broken into lines


@dataclass(frozen=True, repr=False)
class AggregateAdvice(Advice):
    """How to make one number of many classes and groups, and why."""

    analysis: str = "aggregate"
    columns: tuple[str, ...] = ("label", "prediction", "group")
    unit: str = "gap"
    across_groups: str = "1"
    across_classes: str = "2"

    def settings(self, given: Collection[str] = ()) -> dict[str, Any]:
        """The unit and both aggregations."""
        return {"unit": self.unit, "across_groups": self.across_groups, "across_classes": self.across_classes}
