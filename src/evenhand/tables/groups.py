"""How the people of a table are divided: by each attribute, and by intersections of several."""

from __future__ import annotations

import re
import warnings
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import comb
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, listed, nearest, shown, shown_name
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.band_names import clash
from evenhand.tables.cells import MISSING_GROUP, NO_GROUP, Attribute
from evenhand.tables.provenance import NOTHING, Provenance
from evenhand.tables.verbs import Asked

if TYPE_CHECKING:
    from pathlib import Path

# Not from an escaped quote on, so that a text of nothing else is looked at once.
_QUOTED = re.compile(r"""(?<!\\)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\")""")


@dataclass(frozen=True)
class Grouping:
    """One way to divide the people of a table: by an attribute, or by the intersection of several."""

    name: str
    attributes: tuple[str, ...]
    """The attributes whose groups are crossed: one alone, or several."""
    groups: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    codes: Ints
    """Of each cell; −1 where people lack a value, and are in none of the groups."""

    @cached_property
    def inside(self) -> Any:
        """What picks the cells whose people are in a group: all of them, unless some lack a value."""
        return slice(None) if not len(self.codes) or self.codes.min() >= 0 else self.codes >= 0

    @property
    def whole(self) -> bool:
        """Whether everybody is in a group."""
        return isinstance(self.inside, slice)

    def name_of(self, members: tuple[str, ...]) -> str:
        """What a group is called that is not among them: as they are, in quotes if need be."""
        quoted = self.groups[0] != " × ".join(self.members[0])
        name = " × ".join(members)
        return tally_key(members) if quoted or name in self.groups else name


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Asked):
    """What tables have in common: cells that each belong to one group of every attribute."""

    attributes: tuple[Attribute, ...]
    codes: Ints
    """Group of each cell, one row per attribute."""
    n: Ints
    """People in each cell."""
    _: KW_ONLY
    weight: Floats | None = None
    """Sum of the sampling weights in each cell; None when every person counts once."""
    weight2: Floats | None = None
    """Sum of their squares; of a private table, how much each count varies by chance and by its noise."""
    provenance: Provenance = NOTHING
    """What was done to the people before they were counted here."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Rows left out, by reason. A row counts under its first reason only."""
    left_out_groups: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Rows left out, by attribute and group; "" is for rows without one."""
    notes: tuple[str, ...] = ()
    depth: int | None = None
    """Up to so many attributes are crossed, in every combination; None crosses all of them at once."""

    def _freeze(self, *arrays: str) -> None:
        """Nobody changes a table once it is checked."""
        for name in arrays:
            array = getattr(self, name)
            if array is not None:
                array.flags.writeable = False
        frozen = {a: MappingProxyType(dict(g)) for a, g in self.left_out_groups.items()}
        object.__setattr__(self, "left_out", MappingProxyType(dict(self.left_out)))
        object.__setattr__(self, "left_out_groups", MappingProxyType(frozen))

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy, which know no read-only mappings: shards come back from other processes."""
        state = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return state | {"left_out": dict(self.left_out), "left_out_groups": self._dropped()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # type: ignore[attr-defined]

    def __radd__(self, other: object) -> Self:
        """Lets `sum(tables)` start from its 0."""
        return self if other == 0 else NotImplemented

    def _dropped(self) -> dict[str, dict[str, int]]:
        return {a: dict(g) for a, g in self.left_out_groups.items() if g}

    def _same_people(self) -> dict[str, Any]:
        """What a table of the same cells, otherwise read, has too: who is in them, and how they came about."""
        return {name: getattr(self, name) for name in Grouped.__dataclass_fields__}

    @property
    def mass(self) -> NDArray[Any]:
        """What each cell weighs: people, or their sampling weights."""
        return self.n if self.weight is None else self.weight

    @property
    def cells(self) -> int:
        return len(self.n)

    @cached_property
    def rows(self) -> int:
        """People counted."""
        return int(self.n.sum())

    @cached_property
    def groupings(self) -> tuple[Grouping, ...]:
        """Each attribute on its own, then their intersections: that of all, or those of up to `depth` attributes."""
        return tuple(self._divided(chosen) for chosen in crossings(len(self.attributes), self.depth))

    @cached_property
    def tallied(self) -> tuple[Grouping, ...]:
        """Each attribute on its own, and the finest groups: those by which rows left out are counted."""
        return tuple(self._divided(chosen) for chosen in crossings(len(self.attributes)))

    @property
    def finest(self) -> Grouping:
        """The groups by all attributes together, whether or not they are compared."""
        return self.tallied[-1]

    def _divided(self, chosen: Sequence[int]) -> Grouping:
        """The people by some of the attributes."""
        attributes, codes = [self.attributes[i] for i in chosen], self.codes[list(chosen)]
        names = tuple(a.name for a in attributes)
        combined = codes[0]
        for attribute, own in zip(attributes[1:], codes[1:], strict=True):
            # compact after each factor, so that the intersection of many attributes cannot overflow
            combined = combined.astype(np.int64) * len(attribute.groups) + own
            combined = np.unique(combined, return_inverse=True)[1].reshape(-1)
        if len(names) == 1:
            members = tuple((g,) for g in attributes[0].groups)
        else:
            first = np.unique(combined, return_index=True)[1]
            members = tuple(tuple(a.groups[c] for a, c in zip(attributes, codes[:, i], strict=True)) for i in first)
        lacking = [NO_GROUP in member for member in members]
        if any(lacking):
            place = np.where(lacking, -1, np.cumsum(~np.array(lacking)) - 1)
            combined = place[combined]
            members = tuple(m for m in members if NO_GROUP not in m)
        groups = _joined(members) if len(names) > 1 else tuple(g for (g,) in members)
        return Grouping(" × ".join(names), names, groups, members, combined)

    def crossed(self, depth: int | None) -> Self:
        """The same people by other intersections: those of up to `depth` attributes.

        >>> import evenhand
        >>> people = {"s": [0.2, 0.7], "a": [0, 1], "b": ["x", "y"], "c": ["m", "n"]}
        >>> table = evenhand.tabulate(people, score="s", group=["a", "b", "c"])
        >>> [g.name for g in table.groupings]
        ['a', 'b', 'c', 'a × b × c']
        >>> [g.name for g in table.crossed(2).groupings]
        ['a', 'b', 'c', 'a × b', 'a × c', 'b × c']
        """
        if depth == self.depth:
            return self
        columns = [a.name for a in self.attributes]
        names, known = crossing_names(columns, depth), {*crossing_names(columns, self.depth), " × ".join(columns)}
        new = [name for name in names if name not in known]
        if new and self.provenance.withheld:
            raise UsageError(
                f"groups were withheld when the table was suppressed, so it is not known whose people {listed(new)} "
                "lacks: suppress a table that was counted with this depth"
            )
        incomplete = tuple((a, g) for a, g in self.provenance.incomplete if a in names)
        return replace(self, depth=depth, provenance=replace(self.provenance, incomplete=incomplete))

    def left_out_by(self, grouping: Grouping) -> dict[tuple[str, ...], int]:
        """Rows left out, by the members of their groups; "" is for rows without one."""
        own = grouping if grouping.name in self.left_out_groups else self.finest
        place = [own.attributes.index(name) for name in grouping.attributes]
        found: dict[tuple[str, ...], int] = {}
        for key, n in self.left_out_groups.get(own.name, {}).items():
            members = tally_members(key, len(own.attributes))
            group = tuple(members[i] for i in place)
            found[group] = found.get(group, 0) + n
        return found

    def left_out_of(self, grouping: Grouping) -> list[int]:
        """Rows left out of each of the groups."""
        tally = self.left_out_by(grouping)
        return [tally.get(members, 0) for members in grouping.members]

    def grouping(self, name: str | Sequence[str]) -> Grouping:
        """The grouping of that name; a sequence of attribute names means their intersection."""
        wanted = " × ".join(name) if isinstance(name, list | tuple) and all(isinstance(n, str) for n in name) else name
        for g in self.groupings:
            if isinstance(wanted, str) and g.name == wanted:
                return g
        names = [g.name for g in self.groupings]
        raise UsageError(
            f"{shown(wanted)} is not an attribute of the table (it has: {listed(names)}){nearest(wanted, names)}"
        )

    def refuse_incomplete(self, grouping: Grouping) -> Grouping:
        """The grouping, if none of its groups lacks people who were withheld."""
        lacking = [g for a, g in self.provenance.incomplete if a == grouping.name]
        if lacking:
            raise UsageError(
                f"people of {listed(lacking)} were withheld when the table was suppressed, so their rates are unknown: "
                f"compare the groups of all columns together, or suppress a table of {shown(grouping.name)} alone"
            )
        return grouping

    def sizes(self, grouping: Grouping) -> Ints:
        """People in each group."""
        return sum_by(grouping.codes[grouping.inside], self.n[grouping.inside], len(grouping.groups))

    def unknown(self, grouping: Grouping) -> tuple[Grouping, Bools]:
        """The same groups, and behind them those who are in none of them, by what is known of them.

        Beside it, which of the groups each of these may belong to (kind, group): those that agree with what is known.
        """
        own = self.codes[[i for i, a in enumerate(self.attributes) if a.name in grouping.attributes]]
        names = [a.groups for a in self.attributes if a.name in grouping.attributes]
        gone = grouping.codes < 0
        kinds, place = np.unique(own[:, gone], axis=1, return_inverse=True)
        members = tuple(tuple(g[c] for g, c in zip(names, kind, strict=True)) for kind in kinds.T.tolist())
        codes = grouping.codes.copy()
        codes[gone] = len(grouping.groups) + place.reshape(-1)
        may = [
            [all(k in (NO_GROUP, m) for k, m in zip(kind, g, strict=True)) for g in grouping.members]
            for kind in members
        ]
        whole = replace(
            grouping,
            groups=grouping.groups + tuple(map(tally_key, members)),
            members=grouping.members + members,
            codes=codes,
        )
        return whole, np.array(may, np.bool_).reshape(len(members), len(grouping.groups))

    def lacking(self) -> list[str]:
        """The attributes that some people have no value of, though they have one of another."""
        return [a.name for a in self.attributes if NO_GROUP in a.groups]

    @property
    def missing(self) -> str | None:
        """What was done with rows that lack a value, as far as the table tells: "drop", "group" or "bounds"."""
        if self.provenance.unknown:
            return "bounds"
        if any(MISSING_GROUP in a.groups for a in self.attributes):
            return "group"
        without = any(not reason.startswith(("of weight zero", "of groups too small")) for reason in self.left_out)
        return "drop" if without or self.lacking() else None

    def left_out_of_all(self) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        """What is left out, by reason and by group, if those who lack a value of any attribute are too."""
        names, reasons = [a.name for a in self.attributes], dict(self.left_out)
        by_group = self._dropped()
        gone = np.flatnonzero(self.finest.codes < 0)
        for codes, n in zip(self.codes[:, gone].T.tolist(), self.n[gone].tolist(), strict=True):
            members = tuple(a.groups[c] for a, c in zip(self.attributes, codes, strict=True))
            reason = f"without a group {shown(names[members.index(NO_GROUP)])}"
            reasons = added(reasons, {reason: n})
            tally = {name: {group: n} for name, group in zip(names, members, strict=True)}
            by_group = added_groups(by_group, tally | {" × ".join(names): {tally_key(members): n}})
        return reasons, by_group

    def save(self, path: str | Path) -> None:
        """Write the table to a Parquet file that `evenhand.load` and any Parquet reader can open."""
        from evenhand.tables.storage import save

        save(self, path)  # type: ignore[arg-type]  # one of the two tables there are

    def _shown_groups(self) -> list[str]:
        """The largest groups of each attribute, for the eye."""
        parts = []
        for grouping in self.groupings[: len(self.attributes)]:
            sizes = self.sizes(grouping)
            largest = np.argsort(-sizes, kind="stable")
            named = [f"{shown_name(grouping.groups[i])} {sizes[i]:,}" for i in largest[:6]]
            more = f" and {len(sizes) - 6} more" if len(sizes) > 6 else ""
            parts.append(f"{shown_name(grouping.name)}: {', '.join(named)}{more}")
        return parts


def crossings(attributes: int, depth: int | None = None) -> list[tuple[int, ...]]:
    """Which attributes make up each grouping: every one alone, then all, or every combination of up to `depth`.

    >>> crossings(3), crossings(3, 2)
    ([(0,), (1,), (2,), (0, 1, 2)], [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)])
    """
    sizes = {1, attributes} if depth is None else range(1, min(depth, attributes) + 1)
    return [chosen for size in sorted(sizes) for chosen in combinations(range(attributes), size)]


def crossing_count(attributes: int, depth: int | None) -> int:
    """How many of these there are, without making them."""
    return len(crossings(attributes)) if depth is None else sum(comb(attributes, k) for k in range(1, depth + 1))


def crossing_names(attributes: Sequence[str], depth: int | None) -> list[str]:
    """What the groupings of these attributes are called.

    >>> crossing_names(["a", "b", "c"], None)
    ['a', 'b', 'c', 'a × b × c']
    """
    return [" × ".join(attributes[i] for i in chosen) for chosen in crossings(len(attributes), depth)]


def sum_by(key: Ints, mass: NDArray[Any], size: int) -> NDArray[Any]:
    """Masses added up by key."""
    sums = np.bincount(key, weights=mass, minlength=size)
    return sums if mass.dtype.kind == "f" else np.rint(sums).astype(np.int64)


def tally_key(members: tuple[str, ...]) -> str:
    """Where `left_out_groups` counts a group: its name, or for an intersection the names in quotes."""
    return members[0] if len(members) == 1 else " × ".join(map(repr, members))


def tally_members(key: str, attributes: int) -> tuple[str, ...]:
    """The names that `tally_key` made one text of.

    >>> tally_members(tally_key(("w", "it's", "")), 3), tally_members("w", 1)
    (('w', "it's", ''), ('w',))
    """
    return (key,) if attributes == 1 else tuple(literal_eval(name) for name in _QUOTED.findall(key))


def are_tally_keys(keys: Iterable[str], attributes: int) -> bool:
    """Whether `tally_key` makes such texts of as many names.

    >>> are_tally_keys(["'w' × 'old'"], 2), are_tally_keys(["w × old"], 2), are_tally_keys([r"'\\x' × 'old'"], 2)
    (True, False, False)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's own remarks on what is no text of it
        try:
            return all(
                len(members := tally_members(key, attributes)) == attributes and tally_key(members) == key
                for key in keys
            )
        except (SyntaxError, ValueError):
            return False


def sum_of(a: Grouped, b: Grouped, meanings: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """What two tables have in common, of all cells of the one and then the other, if they mean the same."""
    depths = ({"the depth of intersections": t.depth} for t in (a, b))
    of_a, of_b = (depth | meaning for depth, meaning in zip(depths, meanings, strict=True))
    for what, ours in of_a.items():
        theirs = of_b[what]
        if ours != theirs:
            hint = " (whole weights count people unless you say weight_kind='sampling')" if "weight" in what else ""
            raise UsageError(
                f"tables add up only if they mean the same: {what} is {shown(ours)} in one and {shown(theirs)} in the "
                f"other; count both with the same options{hint}"
            )
    attributes, codes = _aligned(a, b)
    return {
        "attributes": attributes,
        "codes": codes,
        "n": both(a.n, b.n),
        "weight": both(a.weight, b.weight),
        "weight2": both(a.weight2, b.weight2),
        "provenance": a.provenance + b.provenance,
        "left_out": added(a.left_out, b.left_out),
        "left_out_groups": added_groups(a.left_out_groups, b.left_out_groups),
        "notes": _added_notes(a, b),
        "depth": a.depth,
    }


def added(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    """Two tallies as one."""
    return {k: a.get(k, 0) + b.get(k, 0) for k in sorted({**a, **b})}


def added_groups(a: Mapping[str, Mapping[str, int]], b: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Two tallies by attribute and group as one."""
    return {name: added(a.get(name, {}), b.get(name, {})) for name in {**a, **b}}


def _added_notes(a: Grouped, b: Grouped) -> tuple[str, ...]:
    """The notes of two tables that add up: what is said of how each came about is said of both anew."""
    own = {*a.provenance.notes, *b.provenance.notes}
    rest = (note for note in a.notes + b.notes if note not in own)
    return (*dict.fromkeys(rest), *(a.provenance + b.provenance).notes)


def history_of(table: Grouped) -> dict[str, Any]:
    """How a table came about, for its file and its digest: rows and their tallies make the same table."""
    said = table.provenance.untallied.to_dict()
    return {
        **({"provenance": said} if said else {}),
        **({"depth": table.depth} if table.depth is not None else {}),
        "left_out": dict(sorted(table.left_out.items())),
        "left_out_groups": {a: dict(sorted(g.items())) for a, g in sorted(table._dropped().items())},
    }


def _aligned(a: Grouped, b: Grouped) -> tuple[tuple[Attribute, ...], Ints]:
    """Attributes with the groups of both tables, and the group of every cell of the one and then the other."""
    attributes, rows = [], []
    for i, (left, right) in enumerate(zip(a.attributes, b.attributes, strict=True)):
        names, shift = united(left.groups, right.groups)
        if (bands := clash(names)) and not clash(left.groups) and not clash(right.groups):
            raise UsageError(
                f"the tables have {shown(left.name)} in different bands, which overlap ({listed(bands)}): count both "
                "with the same borders (bands=, --bands)"
            )
        attributes.append(Attribute(left.name, names))
        rows.append(np.concatenate([a.codes[i], shift[b.codes[i]]]))
    return tuple(attributes), np.array(rows)


def united(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[tuple[str, ...], Ints]:
    """The names of both, and where each of the second stands among them."""
    names = tuple(dict.fromkeys(a + b))
    place = {name: k for k, name in enumerate(names)}
    return names, np.array([place[name] for name in b], np.int64)


def both(a: Any, b: Any) -> Any:
    """Two arrays as one, if there are any."""
    return None if a is None else np.concatenate([a, b])


def same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    """Whether two arrays are equal, or both missing."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b)


def _joined(members: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    names = tuple(" × ".join(m) for m in members)
    if len(set(names)) == len(names):
        return names
    return tuple(" × ".join(map(repr, m)) for m in members)  # a name itself holds ' × '
