"""Tensors are counted where they are, and make the tables that numpy's arrays make.

Without a GPU, numpy's arrays pose as a device: nobody can read them but the space that is told to.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.errors import DataError, UsageError
from evenhand.ingest import score_cells as counting
from evenhand.ingest.engines import array_api as spaces, tensor_codes as coding, tensor_passes as passes, tensors
from evenhand.tables.decimals import narrow_of
from evenhand.tables.grid import Change, Grid, Piece, base_grid

ROWS = 30_000


class OnDevice:
    """An array that says it is on a GPU and hands its numbers to nobody."""

    def __init__(self, array: Any, number: int = 0) -> None:
        self.array, self.number = np.asarray(array), number

    def __len__(self) -> int:
        return len(self.array)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.number

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert a tensor on a device to numpy")

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("not on the processor")


class Device(spaces.Space):
    """Counts in small pieces, and remembers how much it was asked to hand over."""

    chunk = 7_000

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def adopt(self, values: Any) -> Any:
        return values.array

    def down(self, array: Any) -> Any:
        self.largest = max(self.largest, len(array))
        return super().down(array)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device that is used for few rows too, with the decisions of a grid at a small size."""
    space = Device()
    monkeypatch.setattr(spaces, "space_on", lambda kind, number: space)
    monkeypatch.setattr("evenhand.ingest.engines.arrays.SMALL", 0)
    for name, value in {"EXACT": 2_000, "STEP": 4e-4, "LIGHT": 5e-4, "DEAR": 8e-4}.items():
        monkeypatch.setattr(counting, name, value)
    return space


def moved(value: Any, on: Any = OnDevice) -> Any:
    """Arrays of all columns on the device; others as they are."""
    if isinstance(value, dict):
        return {name: moved(v, on) for name, v in value.items()}
    return on(value) if isinstance(value, np.ndarray) else value


def same(*, on: Any = OnDevice, **words: Any) -> Any:
    """The table of tensors, which must be that of numpy's arrays."""
    expected = evenhand.tabulate(**words)
    found = evenhand.tabulate(**{name: v if name == "where" else moved(v, on) for name, v in words.items()})
    assert found == expected
    assert found.digest() == expected.digest()
    assert found.notes == expected.notes
    return found


def columns(seed: int = 0, rows: int = ROWS) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "score": rng.random(rows),
        "label": (rng.random(rows) < 0.4).astype(np.uint8),
        "group": rng.integers(0, 4, rows).astype(np.uint8),
    }


def shapes() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    u, z = rng.random(ROWS), rng.standard_normal(ROWS)
    nasty = u.copy()
    nasty[::50], nasty[1::50], nasty[2::50], nasty[3::50], nasty[4::50] = np.nan, np.inf, -np.inf, -0.0, 5e-324
    return {
        "uniform": u,
        "float32": u.astype(np.float32),
        "float16": u.astype(np.float16),
        "whole numbers": rng.integers(300, 850, ROWS),
        "bytes": rng.integers(0, 256, ROWS).astype(np.uint8),
        "truth": u < 0.5,
        "decimals": u.round(2),
        "many magnitudes": np.exp(6 * z),
        "signed": z**3,
        "negative": -np.exp(3 * z),
        "large": 1e9 * z,
        "next to 1": 1 - 1e-9 * rng.beta(2, 3, ROWS),
        "neighbouring floats": 0.5 + rng.integers(0, 6_000, ROWS) * 2.0**-53,
        "spikes": np.where(u < 0.5, rng.choice([0.1, 1 / 3, 0.9123456789], ROWS), rng.random(ROWS)),
        "tree": rng.choice(rng.random(300), ROWS),
        "constant": np.full(ROWS, 0.25),
        "nasty": nasty,
    }


@pytest.mark.parametrize("name", shapes())
@pytest.mark.usefixtures("device")
def test_every_shape_of_scores(name: str) -> None:
    same(**{**columns(), "score": shapes()[name]}, missing="drop")


@pytest.mark.parametrize("name", ["uniform", "many magnitudes", "nasty"])
@pytest.mark.usefixtures("device")
def test_more_cells_than_counters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "DENSE", 100)
    same(**{**columns(), "score": shapes()[name]}, missing="drop")


def test_only_cells_come_back(device: Device) -> None:
    rows = 200_000
    table = same(**columns(rows=rows))
    assert table.spans is not None
    assert table.cells <= device.largest < rows / 2


GROUPS: dict[str, Any] = {
    "truth values": lambda rng: rng.random(ROWS) < 0.3,
    "with gaps": lambda rng: rng.choice([3, 200], ROWS).astype(np.uint8),
    "negative": lambda rng: rng.integers(-3, 3, ROWS).astype(np.int8),
    "far apart": lambda rng: rng.choice([-(2**40), 0, 2**62], ROWS),
    "unsigned": lambda rng: rng.choice([1, 2**63 + 1], ROWS).astype(np.uint64),
    "uint16": lambda rng: rng.integers(0, 500, ROWS).astype(np.uint16),
    "whole floats": lambda rng: rng.integers(-2, 3, ROWS).astype(np.float32),
    "fractions": lambda rng: (rng.integers(0, 7, ROWS) / 7).astype(np.float32),
    "half": lambda rng: np.full(ROWS, 0.1, np.float16),
    "missing": lambda rng: rng.choice([0.0, 1.0, -0.0, np.nan, np.inf, -np.inf], ROWS),
    "missing fractions": lambda rng: rng.choice([0.5, -0.0, 1.25, np.nan, np.inf, -np.inf], ROWS),
    "thousands": lambda rng: rng.integers(0, 9_000, ROWS),
    "text": lambda rng: rng.choice(["a", "b", "ü"], ROWS).tolist(),
    "some text": lambda rng: rng.choice(np.array(["a", "", None], object), ROWS).tolist(),
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.usefixtures("device")
def test_groups_of_every_type(name: str) -> None:
    same(**{**columns(), "group": GROUPS[name](np.random.default_rng(2))}, missing="drop")


@pytest.mark.usefixtures("device")
def test_several_groups() -> None:
    rng = np.random.default_rng(3)
    groups = {name: make(rng) for name, make in GROUPS.items() if name not in ("half", "some text")}
    same(**{**columns(), "group": dict(list(groups.items())[:2])})
    same(**{**columns(), "group": groups, "score": columns()["score"].round(1)}, missing="drop")


@pytest.mark.usefixtures("device")
def test_combinations_without_number() -> None:
    rng = np.random.default_rng(4)
    groups = {f"g{i}": rng.integers(0, 2**62, ROWS) for i in range(5)}
    with pytest.raises(DataError, match=r"too many to be numbered on a device: pass fewer group"):
        evenhand.tabulate(score=OnDevice(columns()["score"]), group=moved(groups))


@pytest.mark.parametrize("label", [np.bool_, np.int64, np.float32, np.float16])
@pytest.mark.usefixtures("device")
def test_labels_of_every_type(label: Any) -> None:
    same(**{**columns(), "label": columns()["label"].astype(label)})


@pytest.mark.usefixtures("device")
def test_a_peek_into_people_of_one_label() -> None:
    given = columns()
    words = np.where(given["score"] > 0.01, 2, 3)
    same(**{**given, "label": words}, favorable=3)


@pytest.mark.usefixtures("device")
def test_dicts_of_tensors_and_some_rows() -> None:
    given = columns()
    data = {"s": given["score"], "y": given["label"], "g": given["group"], "r": given["group"] > 1}
    same(data=data, score="s", label="y", group=["g", "r"])
    same(data=data, score="s", label="y", group="g", where={"r": True})
    data["names"] = np.array(["f", "m"])[given["label"]].tolist()
    same(data=data, score="s", group="names")


@pytest.mark.usefixtures("device")
def test_predictions_and_classes() -> None:
    given = columns()
    same(label=given["label"], prediction=1 - given["label"], group=given["group"])
    same(**given, prediction=(given["score"] > 0.5))
    rng = np.random.default_rng(5)
    same(label=rng.integers(0, 5, ROWS), prediction=rng.integers(0, 5, ROWS), group=given["group"])


@pytest.mark.usefixtures("device")
def test_weights() -> None:
    rng = np.random.default_rng(6)
    given = {**columns(), "score": shapes()["nasty"], "missing": "drop"}
    same(**given, weight=rng.integers(0, 4, ROWS))
    same(**given, weight=rng.choice([1.0, 2.0, np.nan, np.inf], ROWS))
    weight = rng.lognormal(0, 2, ROWS)
    expected = evenhand.tabulate(**given, weight=weight)
    found = evenhand.tabulate(**moved(given), weight=OnDevice(weight))
    assert isinstance(found, evenhand.Table)
    assert isinstance(expected, evenhand.Table)
    np.testing.assert_array_equal(found.n, expected.n)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-13)
    np.testing.assert_allclose(found.weight2, expected.weight2, rtol=1e-13)
    order = rng.permutation(ROWS)
    mixed = {name: v[order] if isinstance(v, np.ndarray) else v for name, v in given.items()}
    assert evenhand.tabulate(**moved(mixed), weight=OnDevice(weight[order])) == found
    for bad, message in (([1.0, -1.0], "must not be negative"), ([1.0, 1e200], "more than can be counted")):
        with pytest.raises(DataError, match=message):
            evenhand.tabulate(**moved(given), weight=OnDevice(np.resize(bad, ROWS)))


@pytest.mark.usefixtures("device")
def test_the_same_audit() -> None:
    given = {**columns(), "score": columns()["score"].round(2)}
    words: dict[str, Any] = {"bootstrap": 20, "permutations": 20}
    assert evenhand.audit(**moved(given), **words).to_json() == evenhand.audit(**given, **words).to_json()


@pytest.mark.usefixtures("device")
def test_clusters_and_several_scores_are_brought() -> None:
    given = columns(rows=2_000)
    same(**given, cluster=np.arange(2_000) // 2)
    two = {**given, "score": {"a": given["score"], "b": given["score"].round(1)}}
    quick: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
    assert evenhand.audit(**moved(two), **quick).to_json() == evenhand.audit(**two, **quick).to_json()


@pytest.mark.usefixtures("device")
def test_columns_of_one_column() -> None:
    given = columns()
    assert evenhand.tabulate(**moved({**given, "score": given["score"][:, None]})) == evenhand.tabulate(**given)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "lengths": ({"label": OnDevice([0, 1])}, "all columns need the same length, but they have: 'score' 30000, "),
    "two columns": ({"score": OnDevice(np.zeros((ROWS, 2)))}, "'score' must be one-dimensional, but has 2 dimensions"),
    "one number": ({"score": OnDevice(0.5)}, "'score' must be one-dimensional, but has 0 dimensions"),
    "devices": ({"label": OnDevice(columns()["label"], 1)}, "one device, but these are on devices 0 and 1: move them"),
    "complex score": ({"score": OnDevice(np.zeros(ROWS, complex))}, "score column 'score' must hold numbers, but"),
    "complex group": ({"group": OnDevice(np.zeros(ROWS, complex))}, "'group' must hold plain values such as numbers"),
    "mixed list": ({"group": [True, 1] * (ROWS // 2)}, "'group' holds both truth values and numbers"),
    "missing": ({"score": OnDevice(shapes()["nasty"])}, "every row needs its values, but there are 1,800 rows without"),
    "three labels": ({"label": OnDevice(columns()["group"])}, "a label has two values, but column 'label' has 4"),
    "nobody": (dict.fromkeys(("score", "label", "group"), OnDevice(np.zeros(0))), "there are no rows to count"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tensors(name: str, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    change, message = BAD[name]
    if name == "nobody":
        monkeypatch.setattr("evenhand.ingest.engines.arrays.SMALL", tensors.SMALL)
    with pytest.raises((DataError, UsageError), match=message):
        evenhand.tabulate(**{**moved(columns()), **change})


def test_a_device_that_nobody_can_read() -> None:
    with pytest.raises(DataError, match="column 'score' cannot be read as an array"):
        spaces.on_host(OnDevice([0.5]), "score")


# ---- keys --------------------------------------------------------------------------------------------------------


def near_decimals(decimals: int, rng: np.random.Generator) -> Any:
    """Floats next to decimals and to their middles."""
    up = 10.0**decimals
    whole = rng.integers(-int(up), int(up), 20_000)
    x = np.where(rng.random(len(whole)) < 0.5, whole / up, (whole + 0.5) / up)
    for _ in range(3):
        x = np.nextafter(x, rng.choice([-9.0, 9.0], len(x)), where=rng.random(len(x)) < 0.5, out=x)
    return x


GRIDS = {
    "decimals": base_grid(-1.0, 4),
    "tens": base_grid(-1e6, -1),
    "pieces": Grid((Piece(-1.0, 1), Piece(0.5, 3), Piece(0.6, 1))),
    "cuts": base_grid(-1.0, 4).refined([Change(0.1, 0.1001, 9), Change(-0.3, -0.2999, 8)]).cut([0.20003, 1 / 3]),
}


@pytest.mark.parametrize("name", GRIDS)
def test_keys_are_those_of_the_grid(name: str) -> None:
    grid, rng = GRIDS[name], np.random.default_rng(7)
    x = np.concatenate([near_decimals(d, rng) for d in (1, 3, 4, 5, 9)] + [[1 / 3, 0.20003, 0.5, -0.0, 5e-324]])
    x = x * 1e6 if name == "tens" else x
    np.testing.assert_array_equal(passes.keys(spaces.Space(), grid, x), grid.keys(x))


# ---- torch and others ------------------------------------------------------------------------------------------


class Shared:
    """Any library's array in the memory of the processor."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype = array, array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **words: Any) -> Any:
        return self.array.__dlpack__(**words)


def test_whatever_shares_its_memory() -> None:
    same(on=Shared, **columns())


def test_torch_is_not_imported_without_tensors() -> None:
    code = "import sys, evenhand; evenhand.tabulate(score=[0.5], group=['a']); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_torch_on_the_processor() -> None:
    torch = pytest.importorskip("torch")
    given = columns()
    same(on=torch.from_numpy, **given)
    for kind in (torch.bfloat16, torch.float16, torch.float8_e5m2):
        score = torch.from_numpy(given["score"]).to(kind).requires_grad_()
        found = evenhand.tabulate(**{**moved(given, torch.from_numpy), "score": score[:, None]})
        narrow, wide = narrow_of(score), score.detach().double().numpy()
        assert found == evenhand.tabulate(**{**given, "score": narrow.shortest(wide) if narrow else wide})
        for threshold in (0.3, 0.7, float(wide[5]), 0.123456789):  # as torch itself compares
            below = wide < float(torch.tensor(threshold).to(kind)) if narrow else wide < threshold
            assert found.n[~found.selected(threshold)].sum() == below.sum()


@pytest.mark.usefixtures("device")
def test_torch_counts_as_numpy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(spaces, "HOST", ())
    monkeypatch.setattr(spaces, "space_on", lambda kind, number: spaces.TorchSpace(torch.device("cpu")))
    for score in shapes().values():
        same(on=torch.from_numpy, **{**columns(), "score": score}, missing="drop")
    rng = np.random.default_rng(8)
    for group in GROUPS.values():
        same(on=torch.from_numpy, **{**columns(), "group": group(rng)}, missing="drop")
    same(on=torch.from_numpy, **columns(), weight=rng.integers(1, 5, ROWS), weight_kind="frequency")


def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU here")
    monkeypatch.setattr("evenhand.ingest.engines.arrays.SMALL", 0)
    for name, value in {"EXACT": 2_000, "STEP": 4e-4, "LIGHT": 5e-4, "DEAR": 8e-4}.items():
        monkeypatch.setattr(counting, name, value)

    def on(array: Any) -> Any:
        return torch.from_numpy(array).cuda()

    assert isinstance(coding.settled(on(np.zeros(3)), "x"), coding.Resident)
    for score in shapes().values():
        same(on=on, **{**columns(), "score": score}, missing="drop")
    matrix = np.random.default_rng(9).random((ROWS, 3))
    found = evenhand.tabulate(**{**moved(columns(), on), "score": on(matrix)[:, 1]})
    assert found == evenhand.tabulate(**{**columns(), "score": matrix[:, 1]})
