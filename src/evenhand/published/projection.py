"""Items of Taskesen, Blanchet, Kuhn & Nguyen 2021."""

from __future__ import annotations

from evenhand.published.item import Item

ITEMS: tuple[Item, ...] = ()
