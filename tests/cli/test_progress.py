"""The bar on the command line moves, is seen on a terminal only, and the library is silent."""

from __future__ import annotations

import re
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import evenhand
from conftest import IMPATIENT, evenhand as run, terminal
from evenhand.ingest.progress import followed, telling, watchable

WORDS = ["--score", "s", "--label", "y", "--group", "g"]


def write(path: Path, rows: int) -> Path:
    duckdb.sql(f"SELECT (range % 100) / 100 AS s, range % 2 AS y, range % 3 AS g FROM range({rows})").write_parquet(
        str(path)
    )
    return path


@pytest.fixture
def large(tmp_path: Path) -> Callable[[int], Path]:
    """A folder of copies: as much to count as one likes, and little to make."""
    (tmp_path / "data").mkdir()
    one = write(tmp_path / "one", 1_000_000)

    def copies(count: int) -> Path:
        for i in range(count):
            shutil.copyfile(one, tmp_path / "data" / f"{i:04}.parquet")
        return tmp_path / "data"

    return copies


def percentages(text: str) -> list[str]:
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return re.findall(r"counting rows[^%\r\n]*?(\d+)%", plain)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_bar_moves(large: Callable[[int], Path], tmp_path: Path) -> None:
    words = [large(30), *WORDS, "-o", tmp_path / "t.table"]
    code, text = terminal("tabulate", *words, start=IMPATIENT, COLUMNS="120")
    assert code == 0
    assert "30,000,000 rows" in text
    assert len(set(percentages(text))) >= 2, text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_no_bar_for_what_is_done_at_once(tmp_path: Path) -> None:
    code, text = terminal("tabulate", write(tmp_path / "d.parquet", 100), *WORDS, "-o", tmp_path / "t.table")
    assert code == 0
    assert "%" not in text


def test_nothing_is_written_where_nobody_watches(large: Callable[[int], Path]) -> None:
    words = [large(4), *WORDS, "--json", "-", "--bootstrap", "0", "--permutations", "0"]
    result = run("audit", *words, start=IMPATIENT)
    assert result.returncode == 0
    assert result.stderr == ""


def test_the_library_is_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    evenhand.tabulate(write(tmp_path / "d.parquet", 3_000_000), score="s", label="y", group="g")
    assert capfd.readouterr() == ("", "")


SLOW = "SELECT sum(hash(a.range + b.range)) FROM range(20_000) a, range(4_000) b"


def test_a_listener_is_told() -> None:
    told: list[tuple[float | None, str]] = []
    with duckdb.connect() as connection, telling(lambda done, what: told.append((done, what))):
        watchable(connection)
        assert followed(connection, "adding up", connection.sql(SLOW).fetchall)
    assert {what for _, what in told} == {"adding up"}
    assert all(done is None or 0 < done <= 1 for done, _ in told)


def test_errors_come_back_from_the_thread() -> None:
    with duckdb.connect() as connection, pytest.raises(duckdb.ConversionException):
        followed(connection, "failing", lambda: connection.execute("SELECT 'a'::INTEGER").fetchall())


def test_other_threads_can_count_too() -> None:
    found: list[object] = []
    with duckdb.connect() as connection:
        query = connection.sql("SELECT 1").fetchall
        worker = threading.Thread(target=lambda: found.append(followed(connection, "one", query)))
        worker.start()
        worker.join()
    assert found == [[(1,)]]
