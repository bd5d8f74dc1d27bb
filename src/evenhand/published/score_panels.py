"""Figures 1, 2, 4, 5 and 7 of Han, Jiang et al. 2023: how models score two groups, and where ABCC comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import evenhand
from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.audit.charts.subject import subject
from evenhand.analyses.models import panels
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.published.table_one import Case, kept, methods, trained

Cases = Callable[[Path], Iterator[Case]]
MEASURES = {"delta_dp_b": "ΔDP_b", "delta_dp_c": "ΔDP_c", "abpc": "ABPC", "abcc": "ABCC"}
NAMES = {"MLP": "biased MLP", "REG": "debiased MLP"}
"""What the models of Figures 2 and 7 are called there."""
MODEL_2 = 0.1554
"""ΔDP_b of Model 2 in Figure 5, which section 6.2 prints; within what Table 1 says of its spread."""
SPREAD = 0.0069
LOW, UNFAIR = 0.5, 0.2
"""A ΔDP_c of less than so much of that of the first model is low; a model with more than so much of its ABPC or ABCC
is unfair."""


def audited(setting: Setting, cases: Cases, chosen: Sequence[str]) -> dict[str, Audit]:
    """The people who test each of these methods on one split, by method; of a data set with several cases by sex."""
    assert setting.data is not None
    case = list(cases(setting.data))[-1]
    found: dict[str, Audit] = {}
    rounds = [(some, shares) for some, shares in methods(case) if any(m.name in chosen for m in some)]
    name = f"panels-{'corrected' if case.corrected else 'printed'}-{'-'.join(case.rows).replace(' ', '-')}"
    with kept(setting, name) as folder:
        for place, (every, shares) in enumerate(rounds):
            some = [m for m in every if m.name in chosen]
            part = place / len(rounds), (place + 1) / len(rounds)
            done = trained(case, some, shares, setting, folder, 1, part)
            for method, run in zip(done.runs["method"], done.runs["run"], strict=True):
                audit = evenhand.audit(done.table(run), measures=list(MEASURES), bootstrap=0, permutations=0)
                assert isinstance(audit, Audit)
                found[method] = audit
    return {name: found[name] for name in chosen}


def gaps(audit: Audit) -> dict[str, float]:
    return {id_: audit.measure(id_).value for id_ in MEASURES}


def _values(found: Mapping[str, Audit], printed: Mapping[tuple[str, str], float]) -> tuple[Value, ...]:
    return tuple(
        Value(name, MEASURES[id_], printed.get((name, id_)), value, SPREAD)
        for name, audit in found.items()
        for id_, value in gaps(audit).items()
    )


def _charts(found: Mapping[str, Audit], kinds: Sequence[str]) -> tuple[evenhand.Chart, ...]:
    every = [(name, subject(audit)) for name, audit in found.items()]
    first = every[0][1]
    every = [every[0], *((name, replace(s, group=first.group)) for name, s in every[1:])]
    return tuple(getattr(panels, kind)(every) for kind in kinds)


def three_models(setting: Setting, cases: Cases, printed: float | None = None) -> Outcome:
    """Figures 1 and 5: three networks, of which the second is fair by ΔDP_c only."""
    found = audited(setting, cases, ("MLP", "REG", "ADV"))
    named = dict(zip(("Model 1", "Model 2", "Model 3"), found.values(), strict=True))
    one, two, three = (gaps(audit) for audit in named.values())
    seen = "; ".join(f"{MEASURES[id_]} {one[id_]:.3f}, {two[id_]:.3f}, {three[id_]:.3f}" for id_ in MEASURES)
    claims = (
        Claim("ΔDP_c is far lower for Model 2 than for Model 1, though ABPC and ABCC show that it is unfair",
              two["delta_dp_c"] < LOW * one["delta_dp_c"] and all(two[i] > UNFAIR * one[i] for i in ("abpc", "abcc")),
              seen),
        Claim("Model 3 is the fairest by ABCC", three["abcc"] < min(one["abcc"], two["abcc"])),
    )  # fmt: skip
    values = _values(named, {} if printed is None else {("Model 2", "delta_dp_b"): printed})
    return Outcome(
        values, claims, _charts(named, ("pdf",)), _notes("Models 1, 2 and 3 are taken to be MLP, REG and ADV")
    )


def two_models(setting: Setting, cases: Cases) -> Outcome:
    """Figures 2 and 7: densities and CDFs of a network, and of one that pays for ΔDP_c."""
    found = {NAMES[name]: audit for name, audit in audited(setting, cases, ("MLP", "REG")).items()}
    biased, debiased = (gaps(audit) for audit in found.values())
    claims = (
        Claim("the debiased network has a far lower ΔDP_c", debiased["delta_dp_c"] < LOW * biased["delta_dp_c"],
              f"{biased['delta_dp_c']:.3f}, {debiased['delta_dp_c']:.3f}"),
        Claim("its densities still differ", debiased["abpc"] > UNFAIR * biased["abpc"],
              f"ABPC {biased['abpc']:.3f}, {debiased['abpc']:.3f}"),
    )  # fmt: skip
    return Outcome(_values(found, {}), claims, _charts(found, ("pdf", "cdf")), _notes())


def bias_densities(setting: Setting, cases: Cases) -> Outcome:
    """Figure 4: where ABCC comes from, of a network and of an adversarial one."""
    found = audited(setting, cases, ("MLP", "ADV"))
    sums = {}
    for name, audit in found.items():
        attribute = audit.attributes[0]
        density = evenhand.curves(audit.table, attribute.name, reference=attribute.reference).columns("bias_density")
        sums[name] = float(density["density"].sum())
    abcc = {name: gaps(audit)["abcc"] for name, audit in found.items()}
    values = tuple(Value(name, "Σρ, which is ABCC", abcc[name], sums[name], 1e-9) for name in found)
    claims = (
        Claim("the plan of the fair network is closer to the diagonal", abcc["ADV"] < abcc["MLP"],
              f"ABCC {abcc['MLP']:.3f}, {abcc['ADV']:.3f}"),
    )  # fmt: skip
    charts = tuple(_named(audit.plot("bias_density"), name) for name, audit in found.items())
    return Outcome(values, claims, charts, _notes("the numbers beside Σρ are ABCC as measured here, not printed ones"))


def _named(chart: evenhand.Chart, model: str) -> evenhand.Chart:
    """A chart whose title says of which model it is."""
    title = f"{model}: {chart.title}"
    return replace(chart, title=title, spec={**chart.spec, "title": {**chart.spec["title"], "text": [title]}})


def _notes(*more: str) -> tuple[str, ...]:
    return (*more, "one split, whose people who test are drawn")
