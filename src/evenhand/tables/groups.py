"""How the people of a table are divided: by each attribute, and by the intersection of all of them."""

from __future__ import annotations

import re
import warnings
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, listed, nearest, shown, shown_name
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.cells import Attribute
from evenhand.tables.provenance import NOTHING, Provenance
from evenhand.tables.verbs import Asked

if TYPE_CHECKING:
    from pathlib import Path

_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


@dataclass(frozen=True)
class Grouping:
    """One way to divide the people of a table: an attribute, or the intersection of all of them."""

    name: str
    groups: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    codes: Ints

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
        """Each attribute on its own and, if there are several, their intersection."""
        single = tuple(
            Grouping(a.name, a.groups, tuple((g,) for g in a.groups), codes)
            for a, codes in zip(self.attributes, self.codes, strict=True)
        )
        return single if len(single) == 1 else (*single, self._intersection())

    def _intersection(self) -> Grouping:
        combined = np.zeros(self.cells, np.int64)
        for attribute, codes in zip(self.attributes, self.codes, strict=True):
            # compact after each factor, so that the intersection of many attributes cannot overflow
            combined = combined * len(attribute.groups) + codes
            combined = np.unique(combined, return_inverse=True)[1].reshape(-1)
        first = np.unique(combined, return_index=True)[1]
        members = tuple(
            tuple(a.groups[c] for a, c in zip(self.attributes, self.codes[:, i], strict=True)) for i in first
        )
        return Grouping(" × ".join(a.name for a in self.attributes), _joined(members), members, combined)

    def grouping(self, name: str | Sequence[str]) -> Grouping:
        """The grouping of that name; a sequence of all attribute names means their intersection."""
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
        return sum_by(grouping.codes, self.n, len(grouping.groups))

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
    for what, ours in meanings[0].items():
        theirs = meanings[1][what]
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
        "left_out": dict(sorted(table.left_out.items())),
        "left_out_groups": {a: dict(sorted(g.items())) for a, g in sorted(table._dropped().items())},
    }


def _aligned(a: Grouped, b: Grouped) -> tuple[tuple[Attribute, ...], Ints]:
    """Attributes with the groups of both tables, and the group of every cell of the one and then the other."""
    attributes, rows = [], []
    for i, (left, right) in enumerate(zip(a.attributes, b.attributes, strict=True)):
        names, shift = united(left.groups, right.groups)
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
