"""The list of profiles, or one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.analyses.profiles.profile import Profile
from evenhand.analyses.profiles.shipped import profile_named, shipped
from evenhand.report.result import Result


@dataclass(frozen=True, repr=False)
class Profiles(Result):
    """What rules ask for, and what a profile of them does not cover."""

    profiles: tuple[Profile, ...]


def profiles(names: Sequence[str] | None = None) -> Profiles:
    """The profiles of these names (NAME@DATE, or the path of a file); by default all of the package.

    >>> [p.name for p in profiles(["nyc-ll144"]).profiles]
    ['nyc-ll144']
    """
    return Profiles(tuple(profile_named(name) for name in names) if names else shipped())
