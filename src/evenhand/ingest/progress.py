"""Long queries: somebody may be told how far they are, and Ctrl-C ends them at once.

DuckDB keeps the thread that asks it, and most of its calls look for no signal until they are done. So a query runs in a
thread of its own, while this one waits, reports and can be interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")
Listener = Callable[[float | None, str], None]
"""Takes the share that is done, or None where the engine does not know, and what is being done."""

_EVERY = 0.1
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener) -> Iterator[None]:
    """Tell this listener how far queries are; without one, nothing is said."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def followed(connection: Any, what: str, query: Callable[[], T]) -> T:
    """What a query on this connection gives. (None for a relation of the user's, whose connection is not ours.)

    >>> import duckdb
    >>> with duckdb.connect() as connection:
    ...     followed(connection, "adding", lambda: connection.execute("SELECT 1 + 1").fetchall())
    [(2,)]
    """
    from threading import current_thread, main_thread

    if connection is None or current_thread() is not main_thread():  # signals reach the main thread only
        return _plainly(query)
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(copy_context().run, query)
        try:
            while not wait([future], _EVERY).done:
                # -1 before DuckDB knows; 0 throughout for what it cannot see into
                percent = connection.query_progress()
                tell(percent / 100 if percent > 0 else None, what)
        except BaseException:
            while not future.done():  # again: a first call comes too early if the query has not begun
                connection.interrupt()
                wait([future], _EVERY / 2)
            raise
        return future.result()


def _plainly(query: Callable[[], T]) -> T:
    try:
        return query()
    except RuntimeError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise


def is_interrupt(error: BaseException) -> bool:
    """Whether DuckDB noticed Ctrl-C, of which it makes an ordinary error."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"


def tell(done: float | None, what: str) -> None:
    """Tell whoever listens how far something is."""
    if listener := _listener.get():
        listener(done, what)


def watchable(connection: Any) -> None:
    """Let DuckDB keep track of how far it is, without drawing anything itself."""
    for setting in ("enable_progress_bar = true", "enable_progress_bar_print = false", "progress_bar_time = 0"):
        connection.execute(f"SET {setting}")
