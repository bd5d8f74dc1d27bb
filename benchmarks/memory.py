"""Peak memory of auditing a Parquet file of ten million rows, in a process of its own.

python benchmarks/memory.py [rows]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

SCORES = {
    "2 decimals": "round(random(), 2)",
    "4 decimals": "round(random(), 4)",
    "float32": "random()::FLOAT",
    "all distinct": "random()",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=10_000_000)
    rows = parser.parse_args().rows
    print(f"{'scores':<16}{'file MB':>10}{'bare count s':>14}{'audit s':>10}{'peak MB':>10}")
    for name, score in SCORES.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "people.parquet"
            with duckdb.connect() as connection:
                connection.execute(
                    f"COPY (SELECT {score} AS s, (random() < 0.4)::INT AS y, 'group ' || (random() * 3)::INT AS g "
                    f"FROM range({rows})) TO '{file}' (FORMAT parquet)"
                )
                start = time.perf_counter()
                connection.execute(f"SELECT g, y, count(*) FROM '{file}' GROUP BY ALL").fetchall()
                bare = time.perf_counter() - start
            command = [
                sys.executable,
                "-m",
                "evenhand",
                "audit",
                str(file),
                "--score",
                "s",
                "--label",
                "y",
                "--group",
                "g",
            ]
            start = time.perf_counter()
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            taken = time.perf_counter() - start
            assert status == 0
            size = file.stat().st_size / 1e6
        print(f"{name:<16}{size:>10.0f}{bare:>14.2f}{taken:>10.2f}{peak_megabytes(usage):>10.0f}", flush=True)


def peak_megabytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    main()
