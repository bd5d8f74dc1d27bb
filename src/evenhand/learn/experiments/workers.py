"""Runs, one after the other or over several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from evenhand.analyses.options import Axes, checked_axes
from evenhand.errors import EvenhandError, UsageError, is_whole, shown
from evenhand.learn.experiments.plan import Run
from evenhand.learn.experiments.records import Folder
from evenhand.learn.experiments.run import died, perform
from evenhand.learn.experiments.splits import People

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
MOST_BEGUN = 2
"""How often a run may take its process with it."""
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


def perform_all(runs: Sequence[Run], place: Place, processes: int) -> Generator[Done, None, None]:
    """Every run with its record, as they finish: over so many processes, or in this one if that is 0."""
    if processes:
        no_gpu = {"CUDA_VISIBLE_DEVICES": ""} if place.device == "cpu" else {}
        with _environment(ONE_THREAD | no_gpu):
            yield from _over_processes(deque(runs), place, processes)
        return
    try:
        for run in runs:
            yield run, _here(run, place)
    finally:
        _people.cache_clear()


def _here(run: Run, place: Place) -> dict[str, Any]:
    """In this process, which a run may take with it. One that did so twice has failed, or nothing after it would ever
    be reached; once may have been a power cut."""
    if place.folder.begun(run.id) >= MOST_BEGUN:
        return died(run, place.folder, place.device)
    with place.folder.under_way(run.id), _environment(ONE_THREAD):  # also for what a method imports only when it fits
        return _work(run, place)


def _over_processes(left: deque[Run], place: Place, jobs: int) -> Generator[Done, None, None]:
    """A run that kills its process fails alone: those that were under way then are tried one by one."""
    while left:
        waiting: dict[Future[dict[str, Any]], Run] = {}
        try:
            with _pool(min(jobs, len(left))) as pool:
                while left or waiting:
                    while left and len(waiting) < 2 * jobs:
                        waiting[_submit(pool, _work, left[0], place)] = left[0]
                        left.popleft()
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        record = future.result()
                        yield waiting.pop(future), record
        except BrokenProcessPool:
            for run in waiting.values():
                yield run, _alone(run, place)


def _alone(run: Run, place: Place) -> dict[str, Any]:
    record = place.folder.record(run.id)
    if record is not None and record["error"] is None:
        return record
    try:
        with _pool(1) as pool:
            return dict(_submit(pool, _work, run, place).result())
    except BrokenProcessPool:
        return died(run, place.folder, place.device)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
    try:
        try:
            _submit(pool, os.getpid).result()
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


def _submit(pool: ProcessPoolExecutor, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Work for the pool, which may start a process for it: that one never hears Ctrl-C, not even before it can ignore
    it; its parent hears it a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(work, *arguments)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(work, *arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(run: Run, place: Place) -> dict[str, Any]:
    people = _people(os.fspath(place.folder.people / run.data))
    return perform(run, people, place.folder, place.axes, place.device)


@lru_cache(maxsize=4)
def _people(folder: str) -> People:
    return People.opened(folder)


def _begin() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when that has died: nobody would wait for what it does. Standard
    output is its parent's alone, also for what a library prints without asking Python."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):  # closed by who started us
        os.dup2(2, 1)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """What workers read when they start, and libraries when they are loaded."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# ---- how many, and where ----------------------------------------------------------------------------------------


def check_device(device: Any) -> None:
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device is 'auto', 'cpu' or 'cuda', not {shown(device)}")


def settle_device(device: Any, asked: bool) -> str:
    """cpu or cuda; by itself the GPU if there is one and a method asks for it."""
    check_device(device)
    if device == "cpu" or not find_spec("torch") or (device == "auto" and not asked):
        there = False
    else:
        import torch

        there = bool(torch.cuda.is_available())
    if device == "cuda" and not there:
        raise UsageError("device='cuda' needs a GPU and a PyTorch that finds it: there is none; leave device out")
    return "cuda" if there else "cpu"


def settle_jobs(jobs: Any, device: str, importable: bool) -> int:
    """How many processes: one for each core, one on a GPU; 0 is this one, as jobs=1 asks, or if others could not find a
    class of yours."""
    if jobs == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return 0 if not importable else 1 if device == "cuda" else cores
    if not is_whole(jobs) or not 1 <= jobs <= 1024:
        raise UsageError(f"jobs is a number of processes from 1, or 'auto', not {shown(jobs)}")
    return 0 if jobs == 1 else 1 if device == "cuda" else int(jobs)
