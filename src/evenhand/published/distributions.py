"""Items of Han, Jiang et al. 2023."""

from __future__ import annotations

from evenhand.published.item import Item

ITEMS: tuple[Item, ...] = ()
