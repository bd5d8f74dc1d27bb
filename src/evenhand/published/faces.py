"""CelebA, for Table 2 of Han, Jiang et al. 2023: who is called attractive, by sex and age."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.datasets import Dataset
from evenhand.datasets.dataset import either
from evenhand.errors import DataError, shown
from evenhand.files.paths import shown_path
from evenhand.published.table_one import Case

LABELS, IMAGES = "list_attr_celeba.txt", "img_align_celeba"
SIDE = 16
"""Images become so many × so many points: the paper does not say how they enter a network."""
SOURCE = "the CelebA data set, aligned and cropped images"


def celeba(data: Path) -> Iterator[Case]:
    """The rows of Table 2: whether a face is called attractive, by age and by sex."""
    people = faces(data)
    yield Case(replace(people, name="age"), "age", (), ("CelebA", "age"))
    yield Case(replace(people, name="sex"), "sex", (), ("CelebA", "gender"))


def faces(data: Path) -> Dataset:
    """The images of which both files and labels are there, as brightness of points."""
    names, labels = _labels(data / LABELS)
    there = np.array([(data / IMAGES / name).is_file() for name in names])
    if not there.any():
        raise DataError(f"{shown_path(data / IMAGES)} holds no image that {LABELS} names: get {SOURCE}")
    names = [name for name, here in zip(names, there, strict=True) if here]
    labels = {key: values[there] for key, values in labels.items()}
    points = np.stack([_points(data / IMAGES / name) for name in names])
    left_out = int((~there).sum())
    notes = [f"images are {SIDE} × {SIDE} points in three colours: the paper does not say how they enter a network"]
    if left_out:
        notes.append(f"left out {left_out:,} people without an image")
    groups = {"sex": either(labels["Male"], "Male", "Female"), "age": either(labels["Young"], "Young", "Old")}
    columns = {f"point {i}": column for i, column in enumerate(points.T)}
    label = labels["Attractive"].astype(np.int64)
    return Dataset("celeba", columns, label, "attractive", "is called attractive", groups, notes=tuple(notes))


def _labels(file: Path) -> tuple[list[str], dict[str, Any]]:
    """Names of images, and what is said of each: the file has a count, a header, and a line of 1 and −1 for each."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {shown_path(file)}: {error}; get it again from {SOURCE}") from error
    header, rows = (lines[1].split() if len(lines) > 1 else []), [line.split() for line in lines[2:] if line.strip()]
    for name in ("Attractive", "Male", "Young"):
        if name not in header:
            raise DataError(f"{shown_path(file)} has no column {shown(name)}: get it again from {SOURCE}")
    bad = next((i for i, row in enumerate(rows, 3) if len(row) != len(header) + 1), None)
    if bad is not None or not rows:
        raise DataError(f"line {bad or 3} of {shown_path(file)} needs {len(header) + 1} values: get it from {SOURCE}")
    values = np.array([row[1:] for row in rows]) == "1"
    return [row[0] for row in rows], {name: values[:, place] for place, name in enumerate(header)}


def _points(file: Path) -> Any:
    from PIL import Image

    try:
        with Image.open(file) as image:
            return np.asarray(image.convert("RGB").resize((SIDE, SIDE)), np.float32).reshape(-1)
    except OSError as error:
        raise DataError(f"cannot read {shown_path(file)}: {error}; get it again from {SOURCE}") from error
