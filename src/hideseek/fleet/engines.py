"""The worker backends of a fleet: processes on this machine, or a Dask cluster.

Only a few tasks are under way at a time, so that neither the traces nor the results of all users are ever in memory.
A worker that dies is replaced, and what it was doing is done again.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from joblib.externals.loky import ProcessPoolExecutor

from hideseek.errors import EngineError, MissingExtraError, broken_rule
from hideseek.util.threads import ONE_THREAD
from hideseek.util.workers import worker_count

ATTEMPTS = 3  # processes that a task may take with it
AHEAD = 2  # tasks under way for each worker, so that none waits for the next one
CONNECTING, WAITING = 8, 60  # seconds: for a scheduler to answer, and for workers to come back
ONE_AT_A_TIME = threading.Lock()

Result = TypeVar("Result")
Task = tuple[Any, ...]  # the arguments of a call


class ForgottenError(Exception):
    """No worker is busy, and yet a call that was begun has not ended: the backend has lost sight of it."""


class Engine(Protocol):
    """A worker backend: makes calls in other processes."""

    def workers(self) -> int:
        """How many calls are made at the same time."""
        ...

    def idle(self) -> bool:
        """Whether no worker is busy."""
        ...

    def submit(self, function: Callable[..., Result], *task: Any) -> Future[Result]:
        """Begin a call."""
        ...

    def again(self, error: Exception, function: Callable[..., Result], *task: Any) -> Result | None:
        """Make a call again that failed because a worker died, or raise the error; None where every worker died."""
        ...


def each_result(
    engine: Engine, function: Callable[..., Result], tasks: Iterator[Task]
) -> Iterator[tuple[Task, Result | None]]:
    """Call a function, which raises nothing, for every task, in any order; None where every worker that tried died."""
    under_way: dict[Future[Result], Task] = {}
    while True:
        while len(under_way) < AHEAD * max(1, engine.workers()) and (task := next(tasks, None)) is not None:
            under_way[engine.submit(function, *task)] = task
        if not under_way:
            return
        done = wait(under_way, timeout=WAITING, return_when=FIRST_COMPLETED).done
        if not done and not engine.workers():
            raise EngineError(
                f"The worker backend has had no workers for {WAITING} s. Start some, and run this again to continue."
            )
        forgotten = not done and engine.idle()
        for future in list(under_way) if forgotten else done:
            task = under_way.pop(future)
            try:
                if forgotten:
                    raise ForgottenError
                result: Result | None = future.result()
            except Exception as error:  # noqa: BLE001
                result = engine.again(error, function, *task)
            yield task, result


@contextmanager
def engine_of(name: str, workers: int | None) -> Iterator[Engine]:
    """The engine of this name, ready to work, until it is not needed any more."""
    if name == "joblib":
        local = Processes(worker_count(workers, "fleet"))
        try:
            yield local
        finally:
            local.pool.shutdown(kill_workers=True)
        return
    address = re.fullmatch(r"dask://(?P<host>[\w.-]+|\[[\da-f:]+\]):(?P<port>\d{1,5})", name)
    if address is None:
        raise broken_rule("engine", "fleet", "'joblib' or 'dask://HOST:PORT'", repr(name))
    if workers is not None:
        raise broken_rule("workers", "fleet", "given with joblib only", workers, "A cluster has its own.")
    with client_of(address["host"], int(address["port"])) as client:
        yield Cluster(client)


def processes(count: int) -> ProcessPoolExecutor:
    """So many processes of one thread each, that end with this one."""
    return ProcessPoolExecutor(count, env=ONE_THREAD, initializer=stay_with, initargs=(os.getpid(),))


def stay_with(parent: int) -> None:
    """End this process when its parent has ended: if that is killed, nothing tells its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Processes:
    """Processes on this machine, each with a single thread; also a single one, since it may die."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool = processes(count)

    def workers(self) -> int:
        """How many processes there are."""
        return self.count

    def idle(self) -> bool:
        """Never: what is begun here ends, or the pool breaks."""
        return False

    def submit(self, function: Callable[..., Result], *task: Any) -> Future[Result]:
        """Begin a call; a process that died has taken all others with it, and new ones come."""
        try:
            begun: Future[Result] = self.pool.submit(function, *task)
        except BrokenProcessPool:
            self.pool.shutdown(kill_workers=True)
            self.pool = processes(self.count)
            begun = self.pool.submit(function, *task)
        return begun

    def again(self, error: Exception, function: Callable[..., Result], *task: Any) -> Result | None:
        """Make a call that was under way when a process died alone, so that it can only take its own process."""
        if not isinstance(error, BrokenProcessPool):
            raise error
        for _ in range(ATTEMPTS):
            single = processes(1)
            try:
                result: Result = single.submit(function, *task).result()
            except BrokenProcessPool:
                continue
            finally:
                single.shutdown(kill_workers=True)
            return result
        return None


class Cluster:
    """Workers of a Dask scheduler, one call at a time each; Dask itself tries again when one dies."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.executor = client.get_executor(pure=False)

    def workers(self) -> int:
        """How many workers there are now."""
        try:
            return len(self.client.nthreads())
        except (OSError, RuntimeError) as error:
            raise lost(error) from error

    def idle(self) -> bool:
        """Whether no worker has anything to do: measured on a busy machine, a dead worker's calls may never end."""
        return not any(self.client.processing().values())

    def submit(self, function: Callable[..., Result], *task: Any) -> Future[Result]:
        """Begin a call."""
        begun: Future[Result] = self.executor.submit(alone, function, *task)
        return begun

    def again(self, error: Exception, function: Callable[..., Result], *task: Any) -> Result | None:
        """Make a call once more that Dask has given up: it may have stood beside the one that kills."""
        from distributed.scheduler import KilledWorker

        for _ in range(2):
            if not isinstance(error, KilledWorker | ForgottenError):
                raise lost(error) from error
            try:
                return self._ended(self.submit(function, *task))
            except Exception as next_error:  # noqa: BLE001
                error = next_error
        return None

    def _ended(self, begun: Future[Result]) -> Result:
        """What a call gives, unless it is forgotten."""
        while not wait([begun], timeout=WAITING).done:
            if self.idle():
                raise ForgottenError
        return begun.result()


def lost(error: Exception) -> EngineError:
    """The scheduler is gone, or its workers cannot do the work."""
    return EngineError(f"The cluster was lost ({type(error).__name__}). Run this again to continue.")


def alone(function: Callable[..., Result], *task: Any) -> Result:
    """A call that has its process to itself: a worker of several threads would share the solver's among them."""
    with ONE_AT_A_TIME:
        return function(*task)


@contextmanager
def client_of(host: str, port: int) -> Iterator[Any]:
    """A client of the scheduler there, once its workers are known to have the same hideseek as we."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("A cluster needs the distributed package: pip install 'hideseek[dask]'.") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # our own errors say what goes wrong
    place = f"{host}:{port}"
    try:
        # a scheduler speaks first; a client would wait for ever for something else that listens there
        with socket.create_connection((host.strip("[]"), port), CONNECTING) as probe:
            probe.recv(1)
        client = Client(f"tcp://{place}", timeout=CONNECTING, set_as_default=False)
    except OSError as error:
        raise EngineError(
            f"The worker backend is unreachable: no Dask scheduler answers at {place} ({error})."
        ) from None
    with client:
        if not client.nthreads():
            way_out = f"Start some: dask worker tcp://{place} --nthreads 1"
            raise EngineError(f"The Dask scheduler at {place} has no workers. {way_out}")
        ours = version("hideseek")
        for worker, theirs in client.run(version, "hideseek", on_error="return").items():
            if theirs != ours:
                got = theirs if isinstance(theirs, str) else "none"
                raise EngineError(f"The Dask worker at {worker} has hideseek {got}; here it is {ours}.")
        yield client
