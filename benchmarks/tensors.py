"""Scores on an accelerator: how long each pass takes, and how near that is to reading the same bytes once.

python benchmarks/tensors.py [rows ...]

Scores are float32, uniform on [0, 1]; group (4 values) and label (2) are uint8; all are on the device already.
A pass is timed from its call until its cells are on the host, when kernels are compiled: the best of five.
"""

from __future__ import annotations

import argparse
from typing import Any

import evenhand
from evenhand.ingest.engines.tensor_codes import settled
from evenhand.ingest.engines.tensors import Tensors
from evenhand.tables.grid import base_grid
from stopwatch import seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*")
    rows = parser.parse_args().rows
    try:
        import torch
    except ImportError:
        print("torch is not installed, so there are no tensors to count")
        return
    if not torch.cuda.is_available():
        print("there is no GPU that torch can use: tensors of the processor are counted by numpy")
        return
    name = torch.cuda.get_device_name()
    print(f"{name}, torch {torch.__version__}")
    print(f"{'rows':>15}  {'pass':<28}{'ms':>10}{'GB/s':>8}{'× one read':>12}")
    for count in rows or [10**6, 10**7, 10**8, 10**9]:
        _measure(count, torch)


def _measure(rows: int, torch: Any) -> None:
    generator = torch.Generator("cuda").manual_seed(1)
    score = torch.rand(rows, device="cuda", generator=generator)
    label, group = (
        torch.randint(0, size, (rows,), dtype=torch.uint8, device="cuda", generator=generator) for size in (2, 4)
    )
    columns = {"score": score, "label": label, "group": group}

    def done(call: Any) -> Any:
        def run() -> None:
            call()
            torch.cuda.synchronize()

        return run

    def strata() -> Tensors:
        kept = {name: settled(values, name) for name, values in columns.items()}
        return Tensors({r: (r, kept[r]) for r in ("score", "label")}, {"group": kept["group"]})

    def totals() -> None:
        found.__dict__.pop("_totals", None)
        found.totals()

    def counted() -> None:
        strata().keyed(grid, False)

    found, grid = strata(), base_grid(0.0, 5)
    ranges = [(k / 16, k / 16 + 1e-5) for k in range(16)]
    passes = {
        "one read of all bytes": lambda: [c.view(torch.uint8).view(torch.int32).amax() for c in columns.values()],
        "group and label to strata": strata,
        "totals": totals,
        "cells": lambda: found.keyed(grid, False),
        "cells with their ends": lambda: found.keyed(grid, True),
        "peek into 16 cells": lambda: found.within(ranges),
        "from tensors to cells": counted,
        "tabulate": lambda: evenhand.tabulate(**columns),
        "audit, 1 000 bootstraps": lambda: evenhand.audit(**columns, bootstrap=1000),
    }
    floor = 0.0
    for what, call in passes.items():
        taken = seconds(done(call), 1 if what.startswith("audit") else 6)
        floor = floor or taken
        print(
            f"{rows:>15,}  {what:<28}{1e3 * taken:>10.2f}{6e-9 * rows / taken:>8.0f}{taken / floor:>12.1f}", flush=True
        )


if __name__ == "__main__":
    main()
