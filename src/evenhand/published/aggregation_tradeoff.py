"""Section 4, Appendices B and C of Han, Baldwin & Cohn 2023: performance against fairness of four methods on BIOS."""

from __future__ import annotations

import csv
import math
from typing import Any

import numpy as np

import evenhand
from evenhand.errors import DataError
from evenhand.files.paths import shown_path
from evenhand.measures.pareto import Curve, area, curve, dto, pareto, polar_area
from evenhand.published.aggregation_printed import CRITERIA, TABLE_3, TABLE_5_COLUMNS, table_5
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.tables.arrays import Floats

FILES = {"INLP": "INLP", "ADV": "Adv", "DADV": "DAdv", "A-ADV": "BTGAdv"}
RUNS = tuple(f"bios/Bios_both_{name}.csv" for name in FILES.values())
SETTINGS = ("adv_lambda", "adv_num_subDiscriminator", "adv_diverse_lambda", "index_epoch", "lr")
"""Columns that tell settings apart; those of INLP that are the same in all its runs do not."""
RESULTS = {"performance": "test_performance", "fairness": "test_fairness",
           "dev_performance": "dev_performance", "dev_fairness": "dev_fairness"}  # fmt: skip
RANDOM = 0.3
"""The performance of a random guess, where curves start: the share of the most frequent profession."""
USED = {"P@F+5%": 0.65, "P@F+10%": 0.70, "F@P-5%": 0.78, "F@P-10%": 0.73}
"""Floors that give the printed tables."""
OF_THE_TEXT = {"P@F+5%": 0.63, "P@F+10%": 0.68, "F@P-5%": 0.77, "F@P-10%": 0.72}
"""58 % + 5 % and so on, as section 4.5 explains them."""
UTOPIA = (0.82, 1.0)
"""The best performance and fairness in Figure 4."""
DIGIT = 0.05
"""Half a unit of the last printed digit, of percentages."""


def runs(setting: Setting, *names: str) -> dict[str, list[Any]]:
    """The published runs of some methods as columns."""
    found: dict[str, list[Any]] = {"method": [], **{c: [] for c in (*SETTINGS, *RESULTS.values())}}
    for name in names:
        file = setting.file(f"bios/Bios_both_{FILES.get(name, name)}.csv")
        try:
            with file.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    found["method"].append(name)
                    for c in SETTINGS:
                        found[c].append(float(row[c]) if row.get(c) else None)
                    for c in RESULTS.values():
                        found[c].append(float(row[c]))
        except (OSError, KeyError, ValueError) as error:
            raise DataError(f"{shown_path(file)} must hold the runs published with the paper: get it again ({error})") \
                from error  # fmt: skip
    return found


def compared(setting: Setting, *names: str, floors: dict[str, float] = USED, **words: Any) -> evenhand.Comparison:
    """The comparison of all four methods, or of those named."""
    names = names or tuple(FILES)
    options: dict[str, Any] = {
        "method": "method", **RESULTS, "settings": SETTINGS, "random_performance": RANDOM, "bootstrap": 0,
        "front": "published", "fairness_floor": [v for k, v in floors.items() if k.startswith("P")],
        "performance_floor": [v for k, v in floors.items() if k.startswith("F")],
    }  # fmt: skip
    return evenhand.compare(runs(setting, *names), **{**options, **words})


def _by_name(found: evenhand.Comparison) -> dict[str, dict[str, Any]]:
    return {m["name"]: m for m in found.to_dict()["methods"]}


def _ids(floors: dict[str, float]) -> dict[str, str]:
    """The id of every printed criterion."""
    plain = {"DTO": "dto", "P": "performance", "F": "fairness"}
    floored = {name: f"{'performance@fairness' if name[0] == 'P' else 'fairness@performance'}>={floor:g}"
               for name, floor in floors.items()}  # fmt: skip
    return {**plain, **floored}


# ---- tables ----------------------------------------------------------------------------------------------------------


def table_3(setting: Setting, front: str = "published", floors: dict[str, float] = USED) -> Outcome:
    """DTO of the model that each criterion selects, and the area; and what the text says of these."""
    found = _by_name(compared(setting, front=front, floors=floors))
    ids = _ids(floors)
    ours = {m: [100 * found[m]["selected"][ids[c]]["dto"] for c in CRITERIA] for m in TABLE_3}
    areas = {m: 100 * found[m]["auc_pfc"] for m in TABLE_3}
    values = [
        Value(method, column, printed, value, DIGIT)
        for method, row in TABLE_3.items()
        for column, printed, value in zip((*CRITERIA, "AUC"), row, [*ours[method], areas[method]], strict=True)
    ]
    best = {c: min(TABLE_3, key=lambda m: round(ours[m][i], 1)) for i, c in enumerate(CRITERIA)}
    seen = ", ".join(f"{c} {m}" for c, m in best.items())
    claims = (
        Claim("each of the methods is the best by some criterion", {*best.values()} == {*TABLE_3}, seen),
        Claim("INLP is the best by P, ADV by F@P-10%", (best["P"], best["F@P-10%"]) == ("INLP", "ADV")),
        Claim("by area DADV is slightly better than A-ADV, and INLP the worst",
              sorted(areas, key=lambda m: -areas[m]) == ["DADV", "A-ADV", "ADV", "INLP"]),
    )  # fmt: skip
    said = ", ".join(f"{name} {floor:g}" for name, floor in floors.items())
    return Outcome(tuple(values), claims, notes=(FRONTS[front], f"floors on development results: {said}"))


FRONTS = {
    "published": "the front is that of test results, as published",
    "dev": "the front is that of development results: the published one leaks, as what is bad on the test set can then "
           "not be selected; that flatters INLP most",
}  # fmt: skip


NAMES = ("performance", "± of performance", "fairness", "± of fairness", "DTO")


def table_5_(setting: Setting) -> Outcome:
    """Means and standard deviations of all selected models, on both sets."""
    found, ids = _by_name(compared(setting)), _ids(USED)
    values = []
    for method in TABLE_3:
        for criterion, printed in table_5(method).items():
            own = found[method]["selected"][ids[criterion]]
            for where, result, row in (("test", own, printed[0]), ("development", own["dev"], printed[1])):
                numbers = {**result, "dto": math.hypot(1 - result["performance"], 1 - result["fairness"])}
                values += [
                    Value(f"{method} by {criterion}, {where}", name, value, 100 * numbers[key], DIGIT)
                    for name, key, value in zip(NAMES, TABLE_5_COLUMNS, row, strict=True)
                    if numbers[key] is not None
                ]
    single = "every setting of INLP has one run: its printed ± 0.0 is no standard deviation, and not compared"
    return Outcome(tuple(values), notes=(FRONTS["published"], single))


# ---- figures ---------------------------------------------------------------------------------------------------------


def figure_3a(setting: Setting) -> Outcome:
    """Performance and fairness of INLP over its iterations."""
    found = compared(setting, "INLP")
    own = runs(setting, "INLP")
    order = np.argsort(own["index_epoch"])
    p, f = (np.array(own[c])[order] for c in ("test_performance", "test_fairness"))
    third = len(order) // 3
    fairer = [float(f[i * third : (i + 1) * third].mean()) for i in range(3)]
    worse = [float(p[i * third : (i + 1) * third].mean()) for i in range(3)]
    texts = [", ".join(f"{v:.3f}" for v in means) for means in (fairer, worse)]
    claims = (
        Claim("more iterations lead to better fairness", fairer == sorted(fairer), f"means of thirds {texts[0]}"),
        Claim("at the cost of performance", worse == sorted(worse, reverse=True), f"means of thirds {texts[1]}"),
    )
    return Outcome((), claims, (found.plot("settings", setting="index_epoch"),))


def figure_3b(setting: Setting) -> Outcome:
    """The fronts of all methods, and whose is the highest where."""
    found = compared(setting)
    wide = dict.fromkeys(FILES, 0.0)
    for stretch in found.winners:
        for place in stretch.highest:
            wide[found.methods[place]] += (stretch.end - stretch.start) / len(stretch.highest)
    share = {m: w / sum(wide.values()) for m, w in wide.items()}
    p, f = (np.concatenate([np.asarray(found.curve(m)[side]) for m in FILES]) for side in (0, 1))
    nearest = int(np.argmin(dto(p, f)))
    claims = (
        Claim("the curves intersect: no method is the best everywhere", max(share.values()) < 1),
        Claim("A-ADV is better than the others at most performances", share["A-ADV"] > 0.5,
              ", ".join(f"{m} at {100 * s:.0f} %" for m, s in share.items())),
        Claim("the smallest DTO is that of a point on the Pareto frontier of all", bool(pareto(p, f)[nearest])),
    )  # fmt: skip
    values = (Value("utopia", "performance", 0.82, float(np.nanmax(p)), 0.005),)
    return Outcome(values, claims, (found.plot("tradeoff"), found.plot("dto")))


def figure_4(setting: Setting) -> Outcome:
    """Both areas of INLP: under the curve, and between it and the utopia point."""
    found = compared(setting, "INLP", utopia=UTOPIA)
    line = found.curve("INLP")
    p0, p1, f1 = float(line.performance[0]), float(line.performance[-1]), float(line.fairness[-1])
    last = (UTOPIA[0] - p1) * (UTOPIA[1] - f1) / 2
    by_subtraction = (p1 - p0) - float(area(line)) + last - (UTOPIA[0] - p0) * (UTOPIA[1] - float(line.fairness[0])) / 2
    squares, distances = integrals(line)
    ours = float(polar_area(line, UTOPIA))
    return Outcome(
        (Value("INLP", "area under the curve", 0.398, float(area(line)), 0.0005),
         Value("INLP", "area to utopia, by subtraction", by_subtraction, ours, 1e-12),
         Value("INLP", "area to utopia, ½ ∫ DTO² over the angle", squares, ours, 1e-6)),
        (Claim("the integral of DTO over the angle, as printed, is that area",
               math.isclose(distances, ours, rel_tol=0.01), f"∫ DTO {distances:.4f}, the area {ours:.4f}"),
         Claim("0.0001 more area are worth one percentage point of both", math.isclose(*_one_point(line), rel_tol=0.5),
               f"if every point gains one of both, the area gains {_one_point(line)[0]:.4f}")),
        (found.plot("area"),),
        ("published: the area of Table 3, and what the text defines; an area in polar coordinates is ½ ∫ r² dφ",),
    )  # fmt: skip


def integrals(line: Curve, utopia: tuple[float, float] = UTOPIA, points: int = 20_000) -> tuple[float, float]:
    """½ ∫ DTO² and ∫ DTO over the angle at the utopia point, by small steps along each straight piece."""
    squares = distances = 0.0
    for i in range(len(line.performance) - 1):
        t = np.linspace(0, 1, max(2, points // len(line.performance)))
        a, b = ((u - (side[i] + t * (side[i + 1] - side[i]))) for u, side in zip(utopia, line, strict=True))
        angle, r = np.unwrap(np.arctan2(b, a)), np.hypot(a, b)
        squares += float(np.trapezoid(r * r, angle)) / 2
        distances += float(np.trapezoid(r, angle))
    return squares, distances


def _one_point(line: Curve) -> tuple[float, float]:
    """What the area gains if all points but that of a random guess gain a percentage point of both; and 0.0001."""
    p, f = (np.asarray(side)[np.asarray(line.fairness) < 1] + 0.01 for side in line)
    return float(area(curve(p, np.minimum(f, 1.0), (RANDOM, 1.0)))) - float(area(line)), 0.0001


CONDITIONS = {
    "performance_from": (0.49, "performance ≥ 0.49"), "fairness_from": (0.7, "fairness ≥ 0.7"),
    "dto_to": (0.45, "DTO ≤ 0.45"),
}  # fmt: skip


def figure_5(setting: Setting) -> Outcome:
    """Partial areas, by each condition."""
    values, charts = [], []
    for word, (value, said) in CONDITIONS.items():
        condition: dict[str, Any] = {word: value}
        found = compared(setting, **condition)
        charts.append(compared(setting, "INLP", **condition).plot("area"))
        values += [Value(m, said, None, 100 * own["partial_auc_pfc"]) for m, own in _by_name(found).items()]
    note = "accuracy from 0.49 on is the condition of Figure 5a; those of 5b and 5c are not printed, these are ours"
    return Outcome(tuple(values), charts=tuple(charts), notes=(note,))


# ---- appendix C ------------------------------------------------------------------------------------------------------


def figure_8(setting: Setting) -> Outcome:
    """Areas to two utopia points."""
    found = compared(setting)
    lines = {m: found.curve(m) for m in FILES}
    near, far = ({m: float(polar_area(line, u)) for m, line in lines.items()} for u in (UTOPIA, (1.0, 1.0)))
    more = [far[m] - near[m] for m in FILES]
    values = [Value(m, f"area to utopia at {u}", None, areas[m]) for u, areas in (("(0.82, 1)", near), ("(1, 1)", far))
              for m in FILES]  # fmt: skip
    orders = [sorted(areas, key=lambda m: areas[m]) for areas in (near, far)]
    return Outcome(
        tuple(values),
        (Claim("moving utopia to (1, 1) adds the same to all methods", max(more) - min(more) < 1e-9,
               f"from {min(more):.4f} to {max(more):.4f}"),
         Claim("the order of methods stays", orders[0] == orders[1], f"{', '.join(orders[1])}"),
         Claim("AUC-PFC does not depend on utopia", compared(setting, utopia=UTOPIA).to_dict()["methods"][0]["auc_pfc"]
               == found.to_dict()["methods"][0]["auc_pfc"])),
        (compared(setting, "INLP").plot("area"),),
        ("the triangle that is added is the same only if methods have the same best performing model",),
    )  # fmt: skip


def lemma_c_1(setting: Setting) -> Outcome:
    """Random pairs of models as far from one utopia point, and then from one that is b further in performance."""
    rng = np.random.default_rng(setting.seed)
    r, b = rng.uniform(0.05, 0.8, 10_000), rng.uniform(0.01, 0.5, 10_000)
    angles = rng.uniform(0, np.pi / 2, (2, 10_000))
    points = [(1 - b - r * np.cos(angle), 1 - r * np.sin(angle)) for angle in angles]
    at = [dto(p + b, f) for p, f in points]  # from (1 − b, 1)
    moved = [dto(*point) for point in points]
    law = [np.sqrt(r**2 + b**2 + 2 * r * b * np.cos(angle)) for angle in angles]
    worse = points[0][0] < points[1][0]
    farthest: Floats = np.abs(np.stack(moved) - np.stack(law)).max(0)
    return Outcome(
        (Value("10 000 pairs", "largest difference of r′ from its formula", 0.0, float(farthest.max()), 1e-12),),
        (Claim("models as far from utopia as each other: the worse performing one is further from the new utopia",
               bool(np.allclose(at[0], at[1]) and ((moved[0] > moved[1]) == worse).all())),),
        notes=("the printed proof begins with what it shows; its steps can be read backwards",),
    )  # fmt: skip


def appendix_c_1(setting: Setting) -> Outcome:
    """Distances whose axes are divided by their ranges, when fairness is measured on another scale."""
    own = runs(setting, *FILES)
    own["dev_fairness"], own["test_fairness"] = ([v / 10 for v in own[c]] for c in ("dev_fairness", "test_fairness"))
    words: dict[str, Any] = {"method": "method", **RESULTS, "settings": SETTINGS, "bootstrap": 0, "front": "published"}
    chosen = {}
    for normalize in ("range", None):
        plain = _by_name(compared(setting, normalize=normalize))
        scaled = _by_name(evenhand.compare(own, **words, normalize=normalize, utopia=(1.0, 0.1)))
        chosen[normalize] = {m: plain[m]["selected"]["dto"]["settings"] == scaled[m]["selected"]["dto"]["settings"]
                             for m in FILES}  # fmt: skip
    changed = [m for m, same in chosen[None].items() if not same]
    return Outcome(
        claims=(
            Claim("DTO selects other models if fairness is a tenth of it", bool(changed), f"of {', '.join(changed)}"),
            Claim("normalised by the range of results, it selects the same", all(chosen["range"].values())),
        )
    )  # fmt: skip
