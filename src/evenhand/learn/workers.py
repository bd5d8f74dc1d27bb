"""Runs, one after the other or over several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from evenhand.errors import EvenhandError, UsageError, shown
from evenhand.learn.people import People
from evenhand.learn.plans import Run
from evenhand.learn.records import Folder
from evenhand.learn.running import died, perform
from evenhand.options import Axes, checked_axes, whole

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Done = tuple[Run, dict[str, Any]]


class Place(NamedTuple):
    """What a worker needs to know, in plain values."""

    folder: Folder
    performance: str
    fairness: str
    device: str

    @property
    def axes(self) -> Axes:
        return checked_axes(self.performance, self.fairness)


def done_by(runs: Sequence[Run], place: Place, jobs: int) -> Generator[Done, None, None]:
    """Every run with its record, as they finish."""
    if jobs == 1 or len(runs) < 2:
        for run in runs:
            yield run, _work(run, place)
        _people.cache_clear()
        return
    with _environment(place.device):
        yield from _over_processes(deque(runs), place, jobs)


def _over_processes(left: deque[Run], place: Place, jobs: int) -> Generator[Done, None, None]:
    """A run that kills its process fails alone: those that were under way then are tried one by one."""
    while left:
        waiting: dict[Future[dict[str, Any]], Run] = {}
        try:
            with _pool(min(jobs, len(left))) as pool:
                while left or waiting:
                    while left and len(waiting) < 2 * jobs:
                        waiting[_given(pool, _work, left[0], place)] = left[0]
                        left.popleft()
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        record = future.result()
                        yield waiting.pop(future), record
        except BrokenProcessPool:
            for run in waiting.values():
                yield run, _alone(run, place)


def _alone(run: Run, place: Place) -> dict[str, Any]:
    found = place.folder.record(run.id)
    if found is not None and found["error"] is None:
        return found
    try:
        with _pool(1) as pool:
            record: dict[str, Any] = _given(pool, _work, run, place).result()
            return record
    except BrokenProcessPool:
        return died(run, place.folder, place.device)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
    try:
        try:
            _given(pool, os.getpid).result()
        except BrokenProcessPool as error:
            raise EvenhandError(
                "no process could be started: a script that starts an experiment must not do so when it is imported "
                "(put it under if __name__ == '__main__':), or say jobs=1"
            ) from error
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()  # what it does is not finished
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _given(pool: ProcessPoolExecutor, work: Callable[..., Any], *words: Any) -> Future[Any]:
    """Work for the pool, which may start a process for it: that one never hears Ctrl-C, not even before it can ignore
    it; its parent hears it a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(work, *words)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(work, *words)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(run: Run, place: Place) -> dict[str, Any]:
    people = _people(os.fspath(place.folder.people / run.data))
    return perform(run, people, place.folder, place.axes, place.device)


@lru_cache(maxsize=4)
def _people(folder: str) -> People:
    return People.opened(folder)


def _begin() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when that has died: nobody would wait for what it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _environment(device: str) -> Iterator[None]:
    """What workers read when they start: one thread each, and no GPU if it is not asked for."""
    words = dict.fromkeys(THREADS, "1") | ({"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {})
    before = {name: os.environ.get(name) for name in words}
    os.environ.update(words)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# ---- how many, and where ----------------------------------------------------------------------------------------


def settled_device(device: Any, asked: bool) -> str:
    """cpu or cuda; by itself the GPU if there is one and a method asks for it."""
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device is 'auto', 'cpu' or 'cuda', not {shown(device)}")
    if device == "cpu" or not find_spec("torch") or (device == "auto" and not asked):
        there = False
    else:
        import torch

        there = bool(torch.cuda.is_available())
    if device == "cuda" and not there:
        raise UsageError("device='cuda' needs a GPU and a PyTorch that finds it: there is none; leave device out")
    return "cuda" if there else "cpu"


def settled_jobs(jobs: Any, device: str, importable: bool) -> int:
    """Processes: one on a GPU, else one for each core; one if workers could not find a class of yours."""
    if jobs == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return 1 if device == "cuda" or not importable else cores
    if not whole(jobs) or not 1 <= jobs <= 1024:
        raise UsageError(f"jobs is a number of processes from 1, or 'auto', not {shown(jobs)}")
    return 1 if device == "cuda" else int(jobs)
