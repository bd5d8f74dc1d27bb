"""Items of Han, Baldwin & Cohn 2023."""

from __future__ import annotations

from evenhand.published.item import Item

ITEMS: tuple[Item, ...] = ()
