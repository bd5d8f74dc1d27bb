"""The profiles of the package, each of which may have several versions, by the day from which it holds."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from evenhand.analyses.profiles.profile import Profile
from evenhand.analyses.profiles.profile_file import read_profile
from evenhand.errors import UsageError, listed, shown, unknown


@cache
def shipped() -> tuple[Profile, ...]:
    """Every version of every profile, by name and date.

    >>> [p.name for p in shipped()][-1]
    'nyc-ll144'
    """
    found = []
    for place in files("evenhand.analyses.profiles").iterdir():
        if place.name.endswith(".toml"):
            with as_file(place) as path:
                found.append(replace(read_profile(path), file=None))
    return tuple(sorted(found, key=lambda p: (p.name, p.date)))


def profile_named(name: Any) -> Profile:
    """The profile of that name, the version in force at a date (NAME@DATE), or one from a file (its path).

    >>> profile_named("nyc-ll144@2024-01-01").date
    '2023-07-05'
    >>> profile_named("nyc-ll145")
    Traceback (most recent call last):
    evenhand.errors.UsageError: there is no profile 'nyc-ll145' (there are: ...); did you mean 'nyc-ll144'?
    """
    if isinstance(name, Profile):
        return name
    if not isinstance(name, str | os.PathLike):
        raise UsageError(f"a profile is the name of one, or the path of a TOML file, not {shown(name)}")
    text = os.fspath(name)
    if text.endswith(".toml"):
        return read_profile(text)
    plain, _, date = text.partition("@")
    versions = [p for p in shipped() if p.name == plain]
    if not versions:
        raise unknown("there is no profile", plain, [p.name for p in shipped()])
    return _in_force(versions, date) if "@" in text else versions[-1]


def _in_force(versions: Sequence[Profile], date: str) -> Profile:
    dates = listed([p.date for p in versions])
    try:
        day = datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise UsageError(
            f"{shown(date)} is no day such as 2024-01-01, at which {shown(versions[0].name)} is in force (it has "
            f"versions of: {dates})"
        ) from None
    before = [p for p in versions if p.date <= day]
    if not before:
        raise UsageError(f"{shown(versions[0].name)} has no version in force on {day} (it has versions of: {dates})")
    return before[-1]
