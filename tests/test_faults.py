"""When something breaks: damaged files are named, nothing is left half-written, Ctrl-C ends at once."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from conftest import evenhand as run
from evenhand.errors import shown
from evenhand.ingest.engines.damage import culprit
from evenhand.ingest.engines.sources import opened
from evenhand.ingest.progress import followed

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and limits of Unix")
WORDS = ["--score", "s", "--group", "g"]

# ---- damaged files ----------------------------------------------------------------------------------------------

Write = Callable[[Any, Path], None]


def _copied(options: str) -> Write:
    return lambda rows, path: rows.query("t", f"COPY t TO '{path}' ({options})")


def _arrow(rows: Any, path: Path) -> None:
    pytest.importorskip("pyarrow.feather").write_feather(rows.to_arrow_table(), path)


KINDS: dict[str, Write] = {
    "parquet": _copied("FORMAT parquet"),
    "csv": _copied("FORMAT csv"),
    "csv.gz": _copied("FORMAT csv, COMPRESSION gzip"),
    "csv.zst": _copied("FORMAT csv, COMPRESSION zstd"),
    "jsonl": _copied("FORMAT json"),
    "jsonl.gz": _copied("FORMAT json, COMPRESSION gzip"),
    "jsonl.zst": _copied("FORMAT json, COMPRESSION zstd"),
    "feather": _arrow,
}


def _spoilt(content: bytes) -> bytes:
    """Forty bytes are others: in the middle, or where Parquet, without checksums, says how to read a column."""
    start = 4 if content.startswith(b"PAR1") else len(content) // 2
    return content[:start] + bytes(b ^ 0xFF for b in content[start : start + 40]) + content[start + 40 :]


def _cut(content: bytes) -> bytes:
    """In a text, within a row: one that ends with a whole row looks whole."""
    return content[: content.rindex(b",", 0, len(content) * 2 // 3)]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": _cut,
    "cut at its end": lambda content: content[:-1],
    "spoilt": _spoilt,
    "empty": lambda content: b"",
    "noise": lambda content: np.random.default_rng(1).bytes(3000),
}
# A text that only lacks its last line end is whole.
DAMAGED = [(k, d) for k in KINDS for d in DAMAGES if not (d == "cut at its end" and k in ("csv", "jsonl"))]


def parts(kind: str, folder: Path) -> list[Path]:
    """Four files of people, who have scores of three digits and a group of two letters."""
    names = [folder / f"part-{i}.{kind}" for i in range(4)]
    rows = duckdb.sql("SELECT hash(range) % 1000 / 1000 AS s, 'g' || hash(range + 7) % 4 AS g FROM range(5000)")
    KINDS[kind](rows, names[0])
    for name in names[1:]:
        shutil.copy(names[0], name)
    return names


def damage(file: Path, how: str) -> None:
    file.write_bytes(DAMAGES[how](file.read_bytes()))


@pytest.mark.parametrize(("kind", "how"), DAMAGED)
def test_a_damaged_file_of_several_is_named(kind: str, how: str, tmp_path: Path) -> None:
    damage(parts(kind, tmp_path)[2], how)
    with pytest.raises(evenhand.DataError) as caught:
        evenhand.tabulate(str(tmp_path / "part-*"), score="s", group="g")
    assert str(caught.value).count("part-") == str(caught.value).count("part-2") > 0


@pytest.mark.parametrize("kind", KINDS)
def test_whole_files_are_counted(kind: str, tmp_path: Path) -> None:
    parts(kind, tmp_path)
    assert evenhand.tabulate(tmp_path, score="s", group="g").rows == 20_000


def test_a_damaged_file_of_thousands_is_found_in_few_steps() -> None:
    files = [f"{i}.parquet" for i in range(3000)]
    scanned = []

    def scan(some: Sequence[str]) -> None:
        scanned.append(len(some))
        if {"777.parquet", "2100.parquet"} & set(some):
            raise OSError(some[-1])

    found, why = culprit(files, ValueError("all"), scan)
    assert (found, str(why)) == ("777.parquet", "777.parquet")
    assert len(scanned) < 15
    assert sum(scanned) < 2 * len(files)
    both = ValueError("together")
    assert culprit(files, both, lambda some: None) == (None, both)


@pytest.mark.parametrize("end", ["0.3,", '0.3,1,"a', "0.3,1,a,b"])
def test_a_row_that_was_cut_is_told_in_plain_words(end: str, tmp_path: Path) -> None:
    for rows in (2, 5000):
        (tmp_path / "d.csv").write_text("s,y,g\n" + "0.1,1,a\n" * rows + end)
        with pytest.raises(evenhand.DataError, match=r"^cannot read '.*d\.csv': ") as caught:
            evenhand.tabulate(tmp_path / "d.csv", score="s", group="g")
        for machinery in ("search space", "dialect", "Possible", "strict_mode", "ignore_errors"):
            assert machinery not in str(caught.value)


def test_a_damaged_file_is_one_sentence_on_the_command_line(tmp_path: Path) -> None:
    damage(parts("parquet", tmp_path)[1], "spoilt")
    result = run("tabulate", tmp_path, *WORDS, "-o", tmp_path / "out.table")
    assert result.returncode == 2
    assert result.stderr.startswith(f"evenhand: cannot read '{tmp_path / 'part-1.parquet'}': ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.table").exists()


def test_a_checksum_that_does_not_match(tmp_path: Path) -> None:
    """The text may have become another one that can be read: DuckDB does not compare."""
    packed = bytearray(gzip.compress(b"s,g\n0.5,a\n0.7,b\n"))
    packed[-8] ^= 1
    (tmp_path / "d.csv.gz").write_bytes(packed)
    with pytest.raises(evenhand.DataError, match=r"cannot read '.*d\.csv\.gz': CRC check failed"):
        evenhand.tabulate(tmp_path / "d.csv.gz", score="s", group="g")


def test_zstandard_files_of_several_frames(tmp_path: Path) -> None:
    """Frames may follow one another, and some hold no data."""
    [file, *others] = parts("csv.zst", tmp_path)
    for other in others:
        other.unlink()
    content = file.read_bytes()
    file.write_bytes(content + bytes.fromhex("502a4d18") + (3).to_bytes(4, "little") + b"abc")
    assert evenhand.tabulate(file, score="s", group="g").rows == 5000
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(evenhand.DataError, match="it ends too early"):
        evenhand.tabulate(file, score="s", group="g")


# ---- writing ----------------------------------------------------------------------------------------------------

FORMS = ("table", "json", "html")


def writing(form: str, table: Path, target: Path) -> list[object]:
    if form == "table":
        return ["merge", table, "-o", target]
    return ["audit", table, "--bootstrap", "0", "--permutations", "0", f"--{form}", target]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A saved table of some thousand cells."""
    rng = np.random.default_rng(0)
    counted = evenhand.tabulate(score=rng.random(1000), label=rng.integers(0, 2, 1000), group=list("ab") * 500)
    counted.save(tmp_path / "in.table")
    return tmp_path / "in.table"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def limited(arguments: list[object]) -> Any:
    """Run where no file may have more than two kilobytes: like a disk that becomes full while it is written."""
    import resource

    return subprocess.run(
        [sys.executable, "-m", "evenhand", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
    )


def refused_to_write(result: Any, target: Path | str, why: str) -> None:
    assert result.returncode == 2, result
    assert result.stderr == f"evenhand: cannot write {shown(str(target), 120)}: {why}\n"


@UNIX
@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_outgrows_its_place(form: str, table: Path, folder: Path) -> None:
    target = folder / "x"
    target.write_text("old")
    refused_to_write(limited(writing(form, table, target)), target, "File too large")
    assert [p.name for p in folder.iterdir()] == ["x"]
    assert target.read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_device_that_is_full(form: str, table: Path) -> None:
    refused_to_write(run(*writing(form, table, Path("/dev/full"))), "/dev/full", "No space left on device")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_disk_that_is_full(form: str, table: Path, small_disk: Path) -> None:
    (small_disk / "x").write_text("old")
    (small_disk / "rest").write_bytes(bytes(60_000))
    refused_to_write(run(*writing(form, table, small_disk / "x")), small_disk / "x", "No space left on device")
    assert sorted(p.name for p in small_disk.iterdir()) == ["rest", "x"]
    assert (small_disk / "x").read_text() == "old"


DYING = """
import os, signal, sys
from evenhand.cli import main
{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


@UNIX
@pytest.mark.parametrize(("moment", "form"), [("os.fsync", "json"), ("os.replace", "table")])
def test_killed_while_writing(moment: str, form: str, table: Path, folder: Path) -> None:
    """Either the old file or the new one is there, whole. What the killed one leaves is hidden and ends in .part."""
    target = folder / "x"
    target.write_text("old")
    code = DYING.format(moment=moment)
    arguments = [sys.executable, "-c", code, *map(str, writing(form, table, target))]
    result = subprocess.run(arguments, capture_output=True, timeout=100)
    assert result.returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    left = [p.name for p in folder.iterdir() if p != target]
    assert len(left) == 1
    assert left[0].startswith(".x.")
    assert left[0].endswith(".part")
    assert run(*writing(form, table, target)).returncode == 0
    assert target.read_bytes() != b"old"


@UNIX
def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting spills to disk; if that is full, nobody should think that the file is damaged."""
    import resource

    monkeypatch.setattr("evenhand.ingest.engines.sources._MEGABYTES", 20)
    monkeypatch.setattr("os.cpu_count", lambda: 0)
    file = tmp_path / "d.parquet"
    duckdb.sql("SELECT hash(range) / 2**64 AS s, hash(range + 1) AS t FROM range(4_000_000)").write_parquet(str(file))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with (
            pytest.raises(evenhand.DataError, match=r"needs more room for temporary files .* TMPDIR"),
            opened(file, ["s", "t"]) as source,
        ):
            source.relation.order("s").create("sorted")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ---- Ctrl-C -----------------------------------------------------------------------------------------------------


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Far more than can be counted in a minute: copies of a file that is small because all its rows are alike."""
    one = tmp_path / "one"
    duckdb.sql("SELECT 0.5::DOUBLE AS s, 1 AS g FROM range(20_000_000)").write_parquet(str(one))
    (tmp_path / "data").mkdir()
    for i in range(1000):
        shutil.copyfile(one, tmp_path / "data" / f"{i}.parquet")
    return tmp_path / "data"


@UNIX
def test_interrupting_a_count(endless: Path, tmp_path: Path, folder: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "evenhand", "tabulate", str(endless), *WORDS, "-o", str(folder / "x.table")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    with contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        deadline = time.time() + 30
        while not list(scratch.glob("evenhand-*")) and time.time() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)  # it has read what the files hold, and counts
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, "", "evenhand: interrupted")
    assert list(scratch.iterdir()) == []
    assert list(folder.iterdir()) == []


@UNIX
def test_interrupting_a_query_of_the_library() -> None:
    code = """
import duckdb, threading, os, signal
from evenhand.ingest.progress import followed
connection = duckdb.connect()
query = connection.sql("SELECT sum(hash(a.range + b.range)) FROM range(10_000_000) a, range(1_000_000) b")
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    followed(connection, "adding up", query.fetchall)
except KeyboardInterrupt:
    print("noticed")
print(connection.execute("SELECT 1").fetchall())
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (result.stdout, result.stderr) == ("noticed\n[(1,)]\n", "")


def test_an_interruption_that_duckdb_noticed() -> None:
    """A relation of the user's has a connection that is not ours; DuckDB makes an ordinary error of Ctrl-C."""

    def query() -> None:
        raise RuntimeError("Query interrupted")

    with pytest.raises(KeyboardInterrupt):
        followed(None, "counting", query)
