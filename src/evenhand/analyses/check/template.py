"""The policy that `evenhand check --init` writes: valid as it is, and every key explained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

STARTER = """\
# A fairness policy for `evenhand check DATA --policy policy.toml`.
# Exit code 0: every rule is kept to. 1: a rule is not. 2: the policy, the options or the data make no sense.
# Which measure asks what: `evenhand guide`. What every key means: docs/analyses/check.md.

[policy]
name = "my model"

# Groups of fewer people are not judged. "fail" stops the pipeline for such a group, "skip" leaves it out and says so.
min_group_size = 30
small_groups = "fail"

# What it means if a measure is undefined for a group, such as equal_opportunity without a single favourable label:
# "fail", or "skip". A rule may say otherwise for itself.
undefined = "fail"

# Level of intervals, unless a rule names its own.
confidence = 0.95

# How the data are to be read, with the options of `evenhand audit`. Flags on the command line prevail.
[audit]
# score = "probability"
# label = "repaid"
# group = ["sex", "region"]      # each on its own, and their intersection
# bands = { age = [25, 40, 60] } # of a numeric group column; or "decades", "quantiles:4", "none"
# favorable = 1                  # the good value of the label
# favorable_prediction = "yes"   # that of a prediction column, if it is coded differently
# risk = false                   # true: a high score is bad for the person
# threshold = 0.5
# reference = { sex = "male" }   # whom the others are compared with; by default the largest group
# seed = 0

# ---- rules: all of them must be kept to, by every group ------------------------------------------------------------
#
# judge = "value"     the number seen keeps to the limit. Luck can let a model pass, or fail.
# judge = "interval"  all of its interval does: the data must show it. Small groups fail, because they show little.
# judge = "excess"    what is above the gap that chance alone would show does.

# The four-fifths rule: the lower selection rate is at least 0.8 of the higher.
[[rule]]
measure = "disparate_impact"
at_least = 0.8
judge = "value"
reason = "four-fifths rule: 29 CFR 1607.4 (D)"

# The data must show that selection rates differ by no more than 0.2.
[[rule]]
measure = "demographic_parity"
at_most = 0.2
judge = "interval"
confidence = 0.95

# People with the favourable outcome are selected equally often, in whichever group. (Needs the label.)
# [[rule]]
# measure = "equal_opportunity"
# at_most = 0.1
# judge = "interval"
# attribute = "sex"              # by default every attribute, and the intersection of several
# groups = ["female"]            # by default every group but the reference
# undefined = "skip"

# Scores are spread alike at all thresholds together, chance aside. (Needs the score.)
# [[rule]]
# measure = "abcc"
# at_most = 0.05
# judge = "excess"

# No two groups differ by more, whoever is the reference: the most different pair is judged.
# [[rule]]
# measure = "demographic_parity"
# at_most = 0.25
# pairs = "all"
"""


def starter(columns: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    """The same, with columns that are known and why they are thought to be that, by column and by option.

    >>> text = starter({"score": "p", "group": ["sex"]}, {"p": "called like a score"})
    >>> [line for line in text.splitlines() if line.startswith(("score", "group"))]
    ['score = "p"  # called like a score', 'group = ["sex"]']
    """
    head, rest = STARTER.split("[audit]\n")
    keys, rules = rest.split("\n# ---- rules", 1)
    kept = [line for line in keys.split("\n") if line.startswith(("# threshold", "# reference", "# seed"))]
    lines = [_line(key, value, reasons) for key, value in columns.items()]
    return "".join([head, "[audit]\n", "\n".join([*lines, *kept]), "\n\n# ---- rules", rules])


def _line(key: str, value: Any, reasons: Mapping[str, str]) -> str:
    names = value if isinstance(value, list) else [value]
    why = reasons.get(key) or "; ".join(reasons[n] for n in names if isinstance(n, str) and n in reasons)
    comment = f"  # {' '.join(why.split())}" if why.isprintable() and why else ""
    return f"{key} = {json.dumps(value, ensure_ascii=True)}{comment}"
