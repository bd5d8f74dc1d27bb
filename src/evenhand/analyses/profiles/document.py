"""A list of profiles → its JSON document."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.profiles.profile import Profile
from evenhand.analyses.profiles.profiles import Profiles
from evenhand.report.document import fields, header


def document(result: Profiles) -> dict[str, Any]:
    """The profiles as plain values."""
    return {**header("profiles"), "profiles": [_profile(p) for p in result.profiles]}


def _profile(p: Profile) -> dict[str, Any]:
    return {
        **fields(p, "name title date source states not_covered unsure"),
        "options": dict(p.options),
        "options_of_scores": dict(p.options_of_scores),
        "needs": [{"role": n.role, "for": n.purpose} for n in p.needs],
        "categories": [{"name": c.name, "groups": [*c.values], "closed": c.closed} for c in p.categories],
        "facts": [{"id": f.id, "title": f.title, "cover": f.cover} for f in p.facts],
        "tables": [{"title": t.title, "kind": t.kind, "columns": list(t.columns), "annex": t.annex} for t in p.tables],
    }
