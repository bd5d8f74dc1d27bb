"""Items of the ExFairness metric specification."""

from __future__ import annotations

from evenhand.published.item import Item

ITEMS: tuple[Item, ...] = ()
