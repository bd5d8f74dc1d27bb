"""Columns → the role that each may play, with a reason, by what it is called and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.analyses.proposal.profile import Profile
from evenhand.errors import shown_name
from evenhand.ingest.bands import MOST_GROUPS
from evenhand.ingest.name_words import BAD_OUTCOMES, has, is_bad_outcome, words
from evenhand.tables.arrays import Floats

MOST_MODELS, MOST_ATTRIBUTES = 6, 3
MOST_NAMED = 4
CLEAR = 4
"""So many points make a guess clear, if nothing comes near: a name, or scores between 0 and 1."""
MANY = 20
"""So many distinct numbers are a score, or an amount, rather than a code."""
OUTCOMES = frozenset((
    "label", "y", "target", "outcome", "actual", "truth", "true", "class", "income", "repaid", "paid", "risk",
    "success", "observed", "result", "event", "passed", "graduated", *BAD_OUTCOMES,
))  # fmt: skip
DECISIONS = frozenset((
    "decision", "pred", "prediction", "predicted", "yhat", "approved", "approve", "approval", "selected", "selection",
    "hired", "hire", "invited", "invite", "granted", "accepted", "accept", "admitted", "admit", "offer", "offered",
    "shortlisted", "rejected", "denied", "decided", "action", "guess",
))  # fmt: skip
SCORES = frozenset((
    "score", "scores", "prob", "proba", "probability", "probabilities", "pd", "logit", "rating", "decile", "propensity",
    "confidence", "rank", "pred", "prediction", "predicted", "yhat",
))  # fmt: skip
WEIGHTS = frozenset(("weight", "weights", "wt", "wgt", "w", "fnlwgt", "count", "counts", "n", "freq", "frequency"))
COUNTED = frozenset(("count", "counts", "n", "freq", "frequency"))
FIRST = frozenset(("sex", "gender", "race", "ethnicity", "ethnic", "age", "geschlecht", "sexe"))
"""Attributes that people are compared by most, and"""
OTHERS = frozenset((
    "religion", "nationality", "disability", "disabled", "marital", "country", "origin", "migration", "language",
    "region", "orientation", "pregnant", "veteran", "citizenship", "caste", "group", "foreign", "native", "g",
))  # fmt: skip
IDS = frozenset(("id", "uuid", "guid", "key", "identifier", "index", "nr"))
PEOPLE = frozenset(("name", "first", "last", "surname", "email", "phone", "address"))
TIMES = frozenset(("date", "time", "timestamp", "datetime", "month", "quarter", "week", "period", "year"))
BIRTH = frozenset(("dob", "birth", "birthday", "birthdate", "born"))
GOOD = frozenset(("good", "yes", "y", "true", "approve", "approved", "accept", "accepted", "granted", "hired",
                  "invited", "selected", "admitted", "pass", "passed", "repaid", "paid", "offer", "ok"))  # fmt: skip
BAD = frozenset(("bad", "no", "n", "false", "deny", "denied", "reject", "rejected", "refused", "declined", "fail",
                 "failed", "default", "defaulted", "unpaid"))  # fmt: skip

DECIDED = frozenset(("approve", "approved", "accept", "accepted", "granted", "grant", "hired", "invited", "selected",
                     "admitted", "offer", "deny", "denied", "reject", "rejected", "refused", "declined", "not invited",
                     "not hired", "not selected"))  # fmt: skip


@dataclass(frozen=True)
class Guess:
    """The role that a column may play."""

    column: str
    role: str | None
    """score, label, prediction, group, weight, time, id; None if it is not needed."""
    reason: str
    clear: bool = True
    points: int = 0


@dataclass(frozen=True)
class Guesses:
    """The role of every column, and what they mean together."""

    guesses: tuple[Guess, ...]
    favorable: str | None = None
    favorable_prediction: str | None = None
    risk: bool = False
    weight_kind: str | None = None
    missing: str | None = None
    reasons: dict[str, str] = field(default_factory=dict)
    """Why these are what they are."""
    unclear: tuple[str, ...] = ()

    def of(self, role: str) -> list[str]:
        """The columns of a role."""
        return [g.column for g in self.guesses if g.role == role]


def guessed(profiles: Sequence[Profile]) -> Guesses:
    """What each column may be: one label, one decision, one weight and one time at most."""
    found: dict[str, Guess] = {}
    unclear: list[str] = []
    for p in profiles:
        if (guess := _plain(p) or _weight(p) or _group(p)) is not None:
            found[p.name] = guess
    for role, find in (("label", _label), ("prediction", _decision), ("score", _score)):
        _choose(role, [p for p in profiles if p.name not in found], find, found, unclear)
    for role in ("weight", "time"):
        _one_of(role, found, unclear)
    _attributes(profiles, found, unclear)
    rest = {p.name: Guess(p.name, None, f"{p.in_words()}: not needed") for p in profiles if p.name not in found}
    guesses = tuple((found | rest)[p.name] for p in profiles)
    return _meant({p.name: p for p in profiles}, Guesses(guesses, unclear=tuple(unclear)))


# ---- single columns --------------------------------------------------------------------------------------------------


def _plain(p: Profile) -> Guess | None:
    """Columns that tell who somebody is, or when something happened; those of one value tell nothing."""
    if len(p.values) < 2:
        return Guess(p.name, None, f"{p.in_words()}: it tells nobody apart")
    called = words(p.name)
    if p.own and (has(p.name, IDS) or not called or called[0] == "unnamed") and (p.whole or not p.numbers):
        return Guess(p.name, "id", f"nearly every row has its own of {len(p.values):,} values: an id")
    if has(p.name, BIRTH) and p.dates:
        return Guess(p.name, None, "dates of birth: make them ages to compare people by them")
    if p.dates:
        return Guess(p.name, "time", f"{p.in_words()}: when something happened")
    if has(p.name, TIMES) and p.whole and 1900 <= p.numbers[0] <= p.numbers[-1] <= 2100 and len(p.values) <= MANY:
        return Guess(p.name, "time", f"years, {p.in_words()}: when something happened")
    if not p.numbers and (p.own or (has(p.name, PEOPLE) and len(p.values) > MOST_GROUPS)):
        much = "nearly every row has its own" if p.own else "called like a name of people"
        return Guess(p.name, "id", f"{much}, {p.in_words()}: it tells who somebody is")
    if has(p.name, IDS) and p.known > MANY and len(p.values) > 0.5 * p.known and not _fractions(p):
        return Guess(p.name, "id", f"called like an id, {p.in_words()}")
    return None


def _fractions(p: Profile) -> bool:
    return bool(p.numbers) and not p.whole


def _weight(p: Profile) -> Guess | None:
    called = words(p.name)
    named = has(p.name, WEIGHTS - COUNTED) or (called and called[-1] in COUNTED and len(called) == 1)
    if not (named and p.numbers and p.numbers[0] >= 0):
        return None
    what = "numbers of people" if p.whole and has(p.name, COUNTED) else "weights"
    return Guess(p.name, "weight", f"called like a weight, {p.in_words()}: {what}")


def _group(p: Profile) -> Guess | None:
    """Columns that are called like an attribute of people."""
    called = words(p.name)
    first, other = has(p.name, FIRST), has(p.name, OTHERS)
    if not (first or other) or has(p.name, SCORES - {"rank"}) or len(called) > 3:
        return None
    if p.numbers and len(p.values) > MOST_GROUPS and "age" not in called:
        return None
    if not p.numbers and len(p.values) > 50:
        return None
    bands = ", put into bands" if p.numbers and len(p.values) > MOST_GROUPS else ""
    return Guess(
        p.name, "group", f"called like an attribute of people, {p.in_words()}{bands}", points=2 if first else 1
    )


# ---- the one of several ----------------------------------------------------------------------------------------------


def _label(p: Profile) -> tuple[int, str] | None:
    """Points for an outcome: its name, two values, words for good and bad."""
    if len(p.keys) != 2 or _decides(p):
        return None
    good = bool({v.strip().lower() for v in p.values} & (GOOD | BAD))
    named, bad = has(p.name, OUTCOMES), is_bad_outcome(p.name)
    if not named and not good and not p.keys <= {"0", "1"}:
        return None
    points = 4 * named + bad + good
    why = "called like an outcome" if named else "two values as an outcome has"
    return points, f"{why}, {p.in_words()}"


def _decides(p: Profile) -> bool:
    if has(p.name, OUTCOMES - {"y", "true"}):
        return False
    return has(p.name, DECISIONS) or {v.strip().lower() for v in p.values} <= DECIDED


def _decision(p: Profile) -> tuple[int, str] | None:
    if len(p.keys) != 2 or not _decides(p):
        return None
    named = has(p.name, DECISIONS)
    return 4 + named, f"{'called like a decision' if named else 'words of a decision'}, {p.in_words()}"


def _score(p: Profile) -> tuple[int, str] | None:
    if not p.numbers or len(p.values) <= 2:
        return None
    named = has(p.name, SCORES) or words(p.name) == ["p"]
    if named and (len(p.values) > 4 or p.unit):
        exact = words(p.name)[-1] in SCORES or len(words(p.name)) == 1
        return 6 + 2 * p.unit + exact - len(words(p.name)) // 3, f"called like a score, {p.in_words()}"
    if p.unit and not p.whole and len(p.values) >= MANY:
        return 4, f"{p.in_words()}: a score"
    return None


def _choose(
    role: str,
    profiles: Sequence[Profile],
    find: Callable[[Profile], tuple[int, str] | None],
    found: dict[str, Guess],
    unclear: list[str],
) -> None:
    """The column with most points; of scores between 0 and 1 all that have as many: they may be models to compare."""
    points = {p.name: answer for p in profiles if (answer := find(p)) is not None}
    guesses = [Guess(name, role, reason, points=n) for name, (n, reason) in points.items()]
    if not guesses:
        return
    most = max(g.points for g in guesses)
    best = [g for g in guesses if g.points == most]
    by_name = {p.name: p for p in profiles}
    models = role == "score" and len(best) <= MOST_MODELS and all(by_name[g.column].unit for g in best)
    chosen = best if models else [best[-1] if role == "label" else best[0]]
    others = [g for g in guesses if g not in chosen]
    close, weak = [g for g in others if g.points >= most - 2], most < CLEAR
    for g in chosen:
        found[g.column] = replace(g, clear=not (close or weak))
    for g in others:
        found[g.column] = Guess(g.column, None, f"{by_name[g.column].in_words()}: could be {_ROLES[role]} too")
    if close or weak:
        names = ", ".join(shown_name(g.column) for g in chosen)
        also = f"; it may also be {' or '.join(shown_name(g.column) for g in close[:MOST_NAMED])}" if close else ""
        unclear.append(f"{_ROLES[role]}: {names} is a guess{also}")
    if len(chosen) > 1:
        unclear.append(f"{len(best)} columns look like scores, so they are compared as models: name one if only one is")


_ROLES = {"label": "the outcome", "prediction": "the decision", "score": "the score", "weight": "the weight",
          "time": "the time"}  # fmt: skip


def _one_of(role: str, found: dict[str, Guess], unclear: list[str]) -> None:
    """The first column of a role; the others of it are not needed."""
    columns = [g for g in found.values() if g.role == role]
    for g in columns[1:]:
        found[g.column] = Guess(g.column, None, f"{g.reason}; {shown_name(columns[0].column)} is taken for it")
    if len(columns) > 1:
        first = columns[0]
        found[first.column] = replace(first, clear=False)
        named = shown_name(first.column)
        unclear.append(f"{_ROLES[role]}: {len(columns)} columns could be it, the first of which is {named}")


def _attributes(profiles: Sequence[Profile], found: dict[str, Guess], unclear: list[str]) -> None:
    """The attributes to compare by: those people ask for first, else others called so, else any of a few values."""
    groups = [g for g in found.values() if g.role == "group"]
    names = _without_copies([g for g in groups if g.points == 2], profiles) or groups[:MOST_ATTRIBUTES]
    for g in groups:
        if g not in names:
            found[g.column] = Guess(g.column, None, f"{g.reason}: could be one more group")
    if groups:
        return
    few = [p for p in profiles if p.name not in found and 2 <= len(p.values) <= MOST_GROUPS]
    for p in few[:1]:
        found[p.name] = Guess(p.name, "group", f"{p.in_words()}: may divide people into groups", clear=False)
        unclear.append(f"the groups: no column is called like an attribute of people; {shown_name(p.name)} is a guess")


def _without_copies(groups: list[Guess], profiles: Sequence[Profile]) -> list[Guess]:
    """One column of those with the same first word, such as age and age_cat: the one of fewer words."""
    ordered = sorted(groups, key=lambda g: len(words(g.column)))
    kinds: dict[str, Guess] = {}
    for g in ordered:
        kinds.setdefault(next(w for w in words(g.column) if w in FIRST), g)
    order = [p.name for p in profiles]
    return sorted(kinds.values(), key=lambda g: order.index(g.column))[:MOST_ATTRIBUTES]


# ---- what they mean --------------------------------------------------------------------------------------------------


def _meant(profiles: dict[str, Profile], g: Guesses) -> Guesses:
    """Which values are good, and whether a high score is bad."""
    unclear, reasons = list(g.unclear), {}
    good: dict[str, str | None] = {"label": None, "prediction": None}
    for role in good:
        for column in g.of(role):
            good[role], why, sure = _good_value(profiles[column])
            key = "favorable" if role == "label" or not g.of("label") else "favorable_prediction"
            reasons[key] = why
            if not sure:
                unclear.append(f"the good value of {shown_name(column)}: {good[role]} is a guess")
    own = good["prediction"] if good["label"] is not None and good["prediction"] != good["label"] else None
    if own is None:
        reasons.pop("favorable_prediction", None)
    risk = False
    for column in g.of("score")[:1]:
        people = [profiles[weight].floats for weight in g.of("weight")]
        found = _is_risk(profiles, column, g.of("label"), good["label"], *people)
        if found is not None:
            risk, reasons["risk"] = found
    kind = _weight_kind(profiles, g, reasons)
    missing = _incomplete(profiles, g, reasons)
    favorable = good["label"] or good["prediction"]
    return Guesses(g.guesses, favorable, own, risk, kind, missing, reasons, tuple(dict.fromkeys(unclear)))


def _weight_kind(profiles: dict[str, Profile], g: Guesses, reasons: dict[str, str]) -> str | None:
    """What whole weights are; others can only be survey weights."""
    for column in g.of("weight"):
        if profiles[column].whole:
            counted = has(column, COUNTED)
            what = "numbers of people" if counted else "survey weights"
            reasons["weight_kind"] = f"{shown_name(column)} is called like {what}"
            return "frequency" if counted else "sampling"
    return None


def _incomplete(profiles: dict[str, Profile], g: Guesses, reasons: dict[str, str]) -> str | None:
    """What an audit can do with incomplete rows: those that only lack a group can be one."""
    needed = [profiles[column] for role in ("score", "prediction", "label", "weight") for column in g.of(role)]
    lacking = {p.name: p.rows - p.known for p in needed if p.known < p.rows}
    way = "drop" if lacking else "group"
    lacking |= {column: n for column in g.of("group") if (n := profiles[column].nameless)}
    if not lacking:
        return None
    said = ", ".join(f"{n:,} without {shown_name(column)}" for column, n in lacking.items())
    done = "left out" if way == "drop" else "a group of their own"
    reasons["missing"] = f"there are rows that lack a value ({said}): they are {done}"
    return way


def _good_value(p: Profile) -> tuple[str, str, bool]:
    """The good one of two values, why, and whether that is clear."""
    keys = sorted(p.keys)
    bad = is_bad_outcome(p.name) or has(p.name, {"rejected", "denied"})
    if set(keys) <= {"0", "1"}:
        if bad:
            return "0", f"{shown_name(p.name)} sounds like something bad, so 0 is good", True
        return "1", "1 is usually the good value", True
    by_word = {k.strip().lower(): k for k in keys}
    yes = [by_word[w] for w in ("yes", "y", "true") if w in by_word]
    if bad and yes:
        other = next(k for k in keys if k != yes[0])
        return other, f"{shown_name(p.name)} sounds like something bad, so {other} is good", True
    liked = [k for w, k in by_word.items() if w in GOOD]
    disliked = [k for w, k in by_word.items() if w in BAD]
    if len(liked) == 1:
        return liked[0], f"{shown_name(liked[0])} is a word for something good", True
    if len(disliked) == 1:
        other = next(k for k in keys if k != disliked[0])
        return other, f"{shown_name(disliked[0])} is a word for something bad", True
    higher = [k for k in keys if k.strip().startswith(">")]
    if len(higher) == 1:
        return higher[0], f"{shown_name(higher[0])} is the higher of two amounts", False
    return keys[-1], "nothing tells which of its values is good", False


def _is_risk(
    profiles: dict[str, Profile], score: str, labels: Sequence[str], good: str | None, weight: Floats | None = None
) -> tuple[bool, str] | None:
    """Whether the score goes with the bad outcome, and in which words that is told."""
    if not labels or good is None:
        named = has(score, {"risk", "pd", "decile"})
        return (True, f"{shown_name(score)} is called like a risk: a high score is bad") if named else None
    values, fine = profiles[score].floats, profiles[labels[0]].of(good)
    people = np.ones(len(values)) if weight is None else np.nan_to_num(weight)
    known = np.isfinite(values) & (people > 0)
    if not (known & fine).any() or not (known & ~fine).any():
        return None
    ours, others = (float(np.average(values[some], weights=people[some])) for some in (known & fine, known & ~fine))
    if ours >= others:
        return None
    means = f"{ours:.3g} against {others:.3g} on average"
    return True, f"people with the good outcome have lower scores ({means}), so a high score is bad"
