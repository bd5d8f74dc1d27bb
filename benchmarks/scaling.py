"""The whole audit, everything on, by rows and by engine: seconds, memory, and how often a bare count would have run.

    python benchmarks/scaling.py [--rows 100000,1000000,10000000] [--engines parquet,csv,…] [--peer NAME=PYTHON …]

Every figure is of a process of its own. `parquet` and `csv` are the command `evenhand audit FILE --score s --label y
--group g`, start-up and report included. The others call `evenhand.audit` on a frame in a session that has imported
everything and whose workers stand ready; `polars` and the clusters read the Parquet file as they count, `pandas`,
`arrow` and `numpy` hold the rows in memory. All with the defaults: every measure, 1 000 bootstraps, 1 000 permutations.

The bare counts are by the same engine from the same data in the same run: `GROUP BY g, y`, and the same by 100 000
score cells too, which is the least that any score-level measure needs. Engines are not given more rows than they
can bear unless --beyond says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

# nothing heavy here: a new process starts with the peak memory of this one
from engines import ENGINES
from peers import PEERS, has, ours, run as run_peer
from processes import measured

BEARABLE = {"pandas": 10**7, "arrow": 10**7, "dask": 10**7, "spark": 10**7}
PEOPLE = """
SELECT s, (random() < 0.1 + 0.8 * s)::INT AS y, 'group ' || g AS g FROM (
  SELECT {score} AS s, g FROM (
    SELECT CASE WHEN u < 0.5 THEN 0 WHEN u < 0.8 THEN 1 WHEN u < 0.95 THEN 2 ELSE 3 END AS g FROM (
      SELECT random() AS u FROM range({rows}))))
"""
MADE = """
import duckdb, sys
people, file = sys.argv[1:]
with duckdb.connect(config={"threads": 1}) as connection:
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"COPY ({people}) TO '{file}'")
"""
SCORE = "(random() + random() + 0.1 * g) / 2.3"
TABULATE = """
import evenhand, sys
table = evenhand.tabulate(sys.argv[1], score="s", label="y", group="g")
table.save(sys.argv[2])
print(table.cells)
"""
HEAD = ("rows", "engine", "g, y", "cell, g, y", "audit", "×", "× cells", "CPU", "CPU ×", "CPU × cells", "peak MB")


def main() -> None:
    how = _arguments()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {date.today()}")
    with tempfile.TemporaryDirectory(dir=how.folder) as folder:
        files = _Files(Path(folder), how.score)
        print("\nSeconds; × is the audit over the bare count, of seconds and of processor seconds.\n")
        _heading(HEAD)
        for rows in how.rows:
            for engine in how.engines:
                if rows > BEARABLE.get(engine, rows) and not how.beyond:
                    continue
                _row(_measured(engine, rows, files))
            files.forget(rows, tables=False)
        print("\nFrom the saved table: what resampling and everything else takes once rows are counted.\n")
        _heading(("rows", "cells", "table kB", "audit", "CPU", "peak MB"))
        for rows in how.rows:
            _row(_from_table(rows, files))
            files.forget(rows)
    if how.peer_rows:
        _peers(how)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=_sizes, default=[10**5, 10**6, 10**7], metavar="N,N…")
    names = [name for name in ENGINES if name != "table"]
    parser.add_argument("--engines", type=lambda text: _names(text, names), default=names, metavar="NAME,…")
    parser.add_argument("--beyond", action="store_true", help="give engines more rows than they are known to bear")
    parser.add_argument("--score", default=SCORE, metavar="SQL", help="SQL of DuckDB for a score; g is the group")
    parser.add_argument("--folder", help="where to keep data (3 GB for 100 000 000 rows, 13 GB with CSV)")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="a Python that has this peer"
    )
    parser.add_argument("--peer-rows", type=_sizes, default=[10**5, 10**6], metavar="N,N…", help="0 for no peers")
    parser.add_argument("--peer-resamples", type=int, default=2, help="bootstraps of fairlearn that are timed")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [size for part in text.split(",") if (size := int(float(part)))]


def _names(text: str, known: Sequence[str]) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
    return names


class _Files:
    """Rows and tables on disk, made when they are first asked for."""

    def __init__(self, folder: Path, score: str) -> None:
        self.folder, self.score = folder, score

    def of(self, rows: int, kind: str) -> str:
        file = self.folder / f"{rows}.{kind}"
        if not file.exists():
            if kind == "csv":
                copy = f"COPY (FROM '{self.of(rows, 'parquet')}') TO '{file}'"
                measured([sys.executable, "-c", f"import duckdb; duckdb.sql({copy!r})"])
            else:
                measured([sys.executable, "-c", MADE, PEOPLE.format(score=self.score, rows=rows), str(file)])
        return str(file)

    def table(self, rows: int) -> tuple[str, int]:
        file = self.folder / f"{rows}.table"
        cells = measured([sys.executable, "-c", TABULATE, self.of(rows, "parquet"), str(file)]).output
        return str(file), int(cells)

    def forget(self, rows: int, tables: bool = True) -> None:
        """Free the disk for more rows."""
        for file in self.folder.glob(f"{rows}.*"):
            if tables or file.suffix == ".csv":
                file.unlink()


def _child(engine: str, file: str) -> tuple[dict[str, Any], float]:
    cost = measured([sys.executable, str(Path(__file__).with_name("engines.py")), engine, file])
    return json.loads(cost.output.splitlines()[-1]), cost.megabytes


def _measured(engine: str, rows: int, files: _Files) -> list[str]:
    """One row of the table."""
    file = files.of(rows, "csv" if engine == "csv" else "parquet")
    try:
        found, megabytes = _child(engine, file)
        if "audit" not in found:
            words = ("--score", "s", "--label", "y", "--group", "g")
            cost = measured([sys.executable, "-m", "evenhand", "audit", file, *words])
            found["audit"], megabytes = {"seconds": cost.seconds, "cpu": cost.cpu}, cost.megabytes
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        return [f"{rows:,}", engine, f"failed: {reason[:100]}"]
    (bare, cells, audit), (bare_cpu, cells_cpu, audit_cpu) = (
        [found[task][cost] for task in ("bare", "by cell", "audit")] for cost in ("seconds", "cpu")
    )
    return [
        f"{rows:,}", engine, f"{bare:.2f}", f"{cells:.2f}", f"{audit:.2f}", _times(audit, bare), _times(audit, cells),
        f"{audit_cpu:.1f}", _times(audit_cpu, bare_cpu), _times(audit_cpu, cells_cpu), f"{megabytes:,.0f}",
    ]  # fmt: skip


def _times(one: float, other: float) -> str:
    """A ratio; a clock of hundredths cannot tell those to next to nothing."""
    return f"{one / other:.1f}" if other >= 0.02 else "–"


def _from_table(rows: int, files: _Files) -> list[str]:
    file, cells = files.table(rows)
    found, megabytes = _child("table", file)
    audit = found["audit"]
    kilobytes = Path(file).stat().st_size / 1e3
    return [
        f"{rows:,}", f"{cells:,}", f"{kilobytes:,.0f}", f"{audit['seconds']:.2f}", f"{audit['cpu']:.2f}",
        f"{megabytes:,.0f}",
    ]  # fmt: skip


def _peers(how: argparse.Namespace) -> None:
    pythons: Mapping[str, str] = dict(text.partition("=")[::2] for text in how.peer)
    print("\nPeers, two groups; all from arrays in memory, in sessions that have imported everything.\n")
    _heading(("rows", "peer", "theirs", "evenhand", "×", "what is compared"))
    for rows in how.peer_rows:
        mine = ours(sys.executable, rows)
        for name, peer in PEERS.items():
            python = pythons.get(name, sys.executable)
            if not has(python, peer):
                _row([f"{rows:,}", name, f"absent: name a Python that has it with --peer {name}=PYTHON"])
                continue
            try:
                found = run_peer(python, peer.script, rows, how.peer_resamples)
            except RuntimeError as error:
                _row([f"{rows:,}", name, f"failed: {str(error).strip().splitlines()[-1][:100]}"])
                continue
            theirs, us = float(found["seconds"]), float(mine[name])
            what = peer.what.format(resamples=how.peer_resamples)
            _row(
                [f"{rows:,}", f"{name} {found['version']}", f"{theirs:.3g} s", f"{us:.3g} s", _ratio(theirs / us), what]
            )


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _heading(names: Sequence[str]) -> None:
    _row(list(names))
    _row(["---"] * min(2, len(names)) + ["--:"] * (len(names) - 2))


def _row(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
