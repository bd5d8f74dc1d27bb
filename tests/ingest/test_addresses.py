"""Addresses go to DuckDB, which needs its extensions for them; no secret in one is ever shown.

Extensions are made for one version of DuckDB each. Where the packages `duckdb-extension-httpfs` and
`duckdb-extension-postgres-scanner` of the installed version are there, files are really read over HTTP and tables from
a PostgreSQL server; .ci/run sees to that.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest

import evenhand
from conftest import evenhand as run
from evenhand.cli import main
from evenhand.files.secrets import masked
from evenhand.ingest.engines.addresses import missing_extension

SECRET = "hush!4711"
WORDS = ["--score", "s", "--label", "y", "--group", "g"]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extensions that are not installed are looked for in an empty folder, where DuckDB waits for no network."""
    connect, empty = duckdb.connect, str(tmp_path)
    places = {"custom_extension_repository": empty, "autoinstall_extension_repository": empty}

    def offline(*arguments: Any, config: dict[str, Any] | None = None, **words: Any) -> Any:
        return connect(*arguments, config={**(config or {}), **places}, **words)

    monkeypatch.setattr(duckdb, "connect", offline)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@host/db?table=t",
        f"postgres://ann:{SECRET}@host:5432/db?sslmode=require&table=t",
        f"postgresql://host/db?user=ann&password={SECRET}&table=t",
        f"https://ann:{SECRET}@host/people.csv",
        f"https://host/people.parquet?X-Amz-Credential=a&X-Amz-Signature={SECRET}#x",
        f"https://host/people.parquet?sv=1&sig={SECRET}",
        f"s3://bucket/people.parquet?s3_secret_access_key={SECRET}",
        f"https://{SECRET}@host/people.csv",
        f"postgresql://ann@example.org:{SECRET}@host/db",
        *(f"https://host/people.csv?page=2&{name}={SECRET}" for name in ("pass", "auth", "jwt", "code", "p%61ssword")),
        f"https://host/people.csv?{SECRET}",
        f"https://host/people.csv?table=t#{SECRET}",
    ],
)
def test_secrets_are_masked(address: str) -> None:
    assert SECRET not in masked(address)
    assert "***" in masked(address)
    engine = f"IO Error: cannot reach {address}, password {SECRET} or {SECRET.replace('!', '%21')}"
    assert SECRET not in masked(engine, address)
    assert SECRET not in masked(engine.replace("!", "%21"), address.replace("!", "%21"))


def test_passwords_that_are_no_part_of_an_address_are_masked_too() -> None:
    for odd in ("x/y?z#@", "two words ", "a'b\"c", ":", "%", "=&"):
        assert masked(f"postgresql://ann:{odd}{SECRET}@host/db") == "postgresql://***@host/db"
    for address in (f"https://host/a.csv?password=a'{SECRET}", f"host=db password=a'{SECRET}"):
        assert SECRET not in masked(address)
        assert SECRET not in masked(f"cannot reach {address}.", address)


def test_what_is_no_secret_stays_as_it_is() -> None:
    plain = ("s3://bucket/a/*.parquet", "s3://bucket/a@b.csv", "https://host:8080/a.csv", "postgresql://host/db?table=t",
             "C:/people/a@b.csv", "key=5/part.parquet", "it's a=b&c.csv")  # fmt: skip
    for path in plain:
        assert masked(path) == path


COMMANDS = {
    "audit": WORDS,
    "tabulate": [*WORDS, "-o", "out.table"],
    "check": [*WORDS, "--require", "disparate_impact >= 0.8"],
    "thresholds": WORDS,
    "monitor": [*WORDS, "--time", "day"],
    "aggregate": ["--label", "y", "--prediction", "p", "--group", "g"],
    "compare": ["--method", "m", "--performance", "p", "--fairness", "f"],
    "test": [*WORDS],
    "merge": ["-o", "out.table"],
    "table": [],
    "demo": [],
}
BEFORE = {"table": ["info"], "demo": ["--json"]}


FAST = (f"postgresql://ann:{SECRET}@127.0.0.1:1/db", f"s3://ann:{SECRET}@127.0.0.1:1/people.unknown?token={SECRET}")
# DuckDB tries to fetch an extension for these, or to reach the place.
SLOW = (
    f"postgresql://ann:{SECRET}@127.0.0.1:1/db?table=people",
    f"http://ann:{SECRET}@127.0.0.1:1/people.parquet?token={SECRET}",
    f"http://127.0.0.1:1/people.feather?token={SECRET}",
)


@pytest.mark.parametrize(
    ("command", "address"), [*((c, a) for c in COMMANDS for a in FAST), *(("tabulate", a) for a in SLOW)]
)
def test_no_command_shows_a_secret(
    command: str, address: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main([command, *BEFORE.get(command, []), address, *COMMANDS[command]])
    assert caught.value.code == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("evenhand: ")
    assert err.count("\n") == 1
    assert SECRET not in err
    assert "***" in err


@pytest.mark.parametrize(
    "address", [FAST[0], f"https://host/t.table?sig={SECRET}", f"s3://key:{SECRET}@bucket/t.table"]
)
def test_no_other_word_of_a_command_shows_a_secret(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["monitor", address],
        ["table", "info", "one.table", address],
        ["check", "people.csv", f"--policy={address}"],
        ["tabulate", "people.csv", *WORDS, "-o", address],
        ["policy", "init", "-o", address],
    ):
        with pytest.raises(SystemExit):
            main(words)
        err = capfd.readouterr().err
        assert SECRET not in err, words
        assert "***" in err, words


@pytest.mark.parametrize("kind", [str, Path])
def test_the_library_shows_no_secret(kind: Any) -> None:
    address = kind(f"https://ann:{SECRET}@host/t.table?sig={SECRET}")
    table = evenhand.compas()
    for call in (evenhand.load, evenhand.table_info, evenhand.monitor, table.save, evenhand.audit(table).to_json):
        with pytest.raises(evenhand.EvenhandError) as caught:
            call(address)
        assert SECRET not in str(caught.value)
        assert "***" in str(caught.value)


def test_the_cause_of_an_error_holds_no_secret() -> None:
    with pytest.raises(evenhand.DataError) as caught:
        evenhand.tabulate(f"http://ann:{SECRET}@127.0.0.1:1/people.csv", score="s", group="g")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (
            'IO Error: Failed to download extension "postgres_scanner" at URL "http://extensions.duckdb.org/v2.0.0/"',
            "postgres",
        ),
        ("An error occurred while trying to automatically install the required extension 'httpfs:\nFailed", "httpfs"),
        ("Missing Extension Error: File s3://b/x requires the extension httpfs to be loaded", "httpfs"),
    ],
)
def test_a_missing_extension_is_named(said: str, name: str) -> None:
    found = missing_extension(duckdb.Error(said))
    assert found is not None
    assert f"needs DuckDB's extension {name}," in found
    assert f"INSTALL {name}" in found


def test_other_errors_are_no_missing_extension() -> None:
    assert missing_extension(duckdb.Error("IO Error: Could not establish connection to 'https://host/x.csv'")) is None


@pytest.mark.parametrize("table", ["", "?table=", "?table=a.b.c", "?table=a&table=b", "?table=.a"])
def test_a_database_without_its_table(table: str) -> None:
    with pytest.raises(evenhand.UsageError, match=r"names one table, as in postgresql://user@host/database\?table="):
        evenhand.tabulate(f"postgresql://ann@127.0.0.1:1/db{table}", score="s", group="g")


# ---- with the extensions ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A home in which DuckDB finds its extensions."""
    folder = str(tmp_path_factory.mktemp("home"))
    for package in ("duckdb_extension_httpfs", "duckdb_extension_postgres_scanner"):
        found = importlib.util.find_spec(package)
        places = list(found.submodule_search_locations or ()) if found else []
        files = [f for p in places for f in glob.glob(f"{p}/extensions/v{duckdb.__version__}/*.duckdb_extension")]
        if not files:
            pytest.skip(f"the package {package} of DuckDB {duckdb.__version__} is not installed")
        with duckdb.connect(config={"extension_directory": f"{folder}/.duckdb/extensions"}) as connection:
            connection.execute(f"INSTALL '{files[0]}'")
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


def people() -> Any:
    return duckdb.sql("SELECT range / 100 AS s, range % 2 AS y, 'g' || range % 3 AS g FROM range(100)")


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_files_over_http(kind: str, home: str, server: str, tmp_path: Path) -> None:
    file = tmp_path / f"people.{kind}"
    people().query("t", f"COPY t TO '{file}' (FORMAT {kind.removesuffix('l')})")
    target = tmp_path / "out.table"
    result = run("tabulate", f"{server}/{file.name}?token={SECRET}", *WORDS, "-o", target, HOME=home)
    assert result.returncode == 0, result.stderr
    assert evenhand.load(target) == evenhand.tabulate(file, score="s", label="y", group="g")
    assert SECRET.encode() not in target.read_bytes()
    gone = run("tabulate", f"{server}/gone.{kind}?token={SECRET}", *WORDS, "-o", target, HOME=home)
    assert gone.returncode == 2
    assert f"cannot read '{server}/gone.{kind}?token=***': " in gone.stderr
    assert SECRET not in gone.stderr


SQL = """
CREATE SCHEMA lending;
CREATE TABLE lending.people AS
SELECT CASE WHEN i % 50 = 7 THEN 'NaN' ELSE (i % 100) / 100.0 END::float8 AS s, i % 2 = 0 AS y,
       CASE WHEN i % 31 > 0 THEN 'g' || i % 3 END AS g, (i % 5)::numeric(6, 2) / 4 AS price,
       date '2024-02-27' + i % 4 AS day, timestamptz '2024-01-01 00:00:00+00' + i % 3 * interval '1 hour' AS instant
FROM generate_series(0, 999) i;
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[dict[str, str]]:
    """A server of its own, with a password, that lives as long as these tests."""
    places = [os.path.dirname(shutil.which("initdb") or ""), *sorted(glob.glob("/usr/lib/postgresql/*/bin"))]
    programs = next((p for p in reversed(places) if p), None)
    if programs is None:
        pytest.skip("there is no PostgreSQL server on this machine")
    folder = tempfile.mkdtemp(prefix="postgres-")
    who: dict[str, Any] = {"cwd": folder}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "nobody")
        who["user"] = "nobody"
    secret = Path(folder, "secret")
    secret.write_text(SECRET)
    secret.chmod(0o644)
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    said = [f"{programs}/initdb", "-D", "data", "-U", "ann", "--no-sync", "-A", "scram-sha-256", "--locale=C"]
    subprocess.run([*said, "-E", "UTF8", f"--pwfile={secret}"], check=True, **who, **quiet)
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    listening = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
    process = subprocess.Popen([f"{programs}/postgres", "-D", "data", "-p", str(port), *listening], **who, **quiet)
    psql = [f"{programs}/psql", "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "ann", "-d", "postgres"]
    try:
        deadline = time.time() + 30
        environment = {**os.environ, "PGPASSWORD": SECRET}
        while subprocess.run([*psql, "-c", "SELECT 1"], env=environment, **quiet).returncode:
            assert time.time() < deadline, "the server does not start"
            time.sleep(0.1)
        subprocess.run([*psql, "-v", "ON_ERROR_STOP=1", "-c", SQL], env=environment, check=True, **quiet)
        copy = f"COPY lending.people TO '{folder}/people.csv' (FORMAT csv, HEADER)"
        subprocess.run([*psql, "-c", copy], env=environment, check=True, **quiet)
        yield {"place": f"127.0.0.1:{port}/postgres", "csv": f"{folder}/people.csv"}
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def test_a_table_of_postgresql(home: str, postgres: dict[str, str], tmp_path: Path) -> None:
    address = f"postgresql://ann:{SECRET.replace('!', '%21')}@{postgres['place']}?table=lending.people"
    target = tmp_path / "out.table"
    words = [
        "--score",
        "s",
        "--label",
        "y",
        "--group",
        "g,price,day,instant",
        "--missing",
        "drop",
        "--favorable",
        "true",
    ]
    result = run("tabulate", address, *words, "-o", target, HOME=home)
    assert result.returncode == 0, result.stderr
    assert SECRET not in result.stderr
    found = evenhand.load(target)
    assert SECRET.encode() not in target.read_bytes()
    file = tmp_path / "people.parquet"  # CSV says t and f for truth, and knows neither dates nor decimals
    types = {"s": "DOUBLE", "y": "BOOLEAN", "g": "VARCHAR", "price": "DECIMAL(12, 6)", "day": "DATE"}
    types["instant"] = "TIMESTAMPTZ"
    groups = ["g", "price", "day", "instant"]
    duckdb.sql(f"FROM read_csv('{postgres['csv']}', columns = {types})").write_parquet(str(file))
    expected = evenhand.tabulate(file, score="s", label="y", group=groups, missing="drop", favorable=True)
    assert found == expected
    assert found.left_out["without a finite score 's'"] == 20


def test_a_password_from_the_environment(home: str, postgres: dict[str, str], tmp_path: Path) -> None:
    address = f"postgresql://ann@{postgres['place']}?table=lending.people"
    words = [*WORDS, "--missing", "drop", "--bootstrap", "0", "--permutations", "0", "--json", "-"]
    result = run("audit", address, *words, HOME=home, PGPASSWORD=SECRET)
    assert result.returncode == 0, result.stderr
    assert SECRET not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("postgresql://ann:wrong!1234@{place}?table=lending.people", "password authentication failed"),
        ("postgresql://ann:wrong!1234@127.0.0.1:1/postgres?table=people", "Connection refused"),
        ("postgresql://ann:" + SECRET + "@{place}?table=lending.gone", "does not exist"),
    ],
)
def test_what_postgresql_refuses(address: str, why: str, home: str, postgres: dict[str, str], tmp_path: Path) -> None:
    result = run("tabulate", address.format(**postgres), *WORDS, "-o", tmp_path / "out.table", HOME=home)
    assert result.returncode == 2
    assert why in result.stderr
    assert result.stderr.count("\n") == 1
    assert "!" not in result.stderr.replace("exist!", "")
