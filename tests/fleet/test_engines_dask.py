"""The same fleet on a Dask cluster: a scheduler and two workers of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from distributed import Client
from distributed.scheduler import KilledWorker

from hideseek.errors import EngineError
from hideseek.fleet import engines, run_fleet
from hideseek.fleet import run as running
from hideseek.fleet.job import protect
from tests.support.fleets import JOB, assert_same, dies_always, labels_of

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


class Dask:
    """A scheduler on a free port, and workers that are ended with it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.processes: list[subprocess.Popen] = []
        self.environment = os.environ | environment
        file = folder / "scheduler.json"
        os.mkfifo(file)
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)
        self.address = json.loads(file.read_text())["address"].removeprefix("tcp://")  # once it is written
        self.engine = f"dask://{self.address}"

    def start(self, role: str, *words: object) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--dashboard-address", "127.0.0.1:0"]
        process = subprocess.Popen(
            [*command, *map(str, words)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def worker(self, *words: str) -> subprocess.Popen:
        return self.start("worker", f"tcp://{self.address}", "--host", "127.0.0.1", "--nthreads", "1", *words)

    def wait_for(self, workers: int) -> None:
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=300)

    def end(self) -> None:
        for process in reversed(self.processes):  # workers first: who loses a scheduler waits for it
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path, monkeypatch):
    monkeypatch.setenv("DIED", str(tmp_path))
    # two deaths are enough to give a task up
    cluster = Dask(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    yield cluster
    cluster.end()


def kills_the_first(user, traces, job):
    """A task that takes the worker with it that begins it first, whoever that is."""
    try:
        Path(os.environ["DIED"], "killed").touch(exist_ok=False)
    except FileExistsError:
        return protect(user, traces, job)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_a_cluster_gives_the_same_also_when_a_worker_is_killed(dask, city, undisturbed, tmp_path, monkeypatch):
    with pytest.raises(EngineError, match=r"has no workers\. Start some: dask worker tcp://127"):
        run_fleet(city, tmp_path / "none", job=JOB, engine=dask.engine)
    assert not (tmp_path / "none").exists()
    workers = [dask.worker("--no-nanny") for _ in range(2)]
    dask.wait_for(2)
    run_fleet(city, tmp_path / "quiet", job=JOB, engine=dask.engine)
    assert_same(tmp_path / "quiet", undisturbed)
    monkeypatch.setattr(running, "protect", kills_the_first)
    assert run_fleet(city, tmp_path / "killed-one", job=JOB, engine=dask.engine).unusable == 0
    assert sorted(worker.poll() is None for worker in workers) == [False, True]
    assert_same(tmp_path / "killed-one", undisturbed)


def test_a_user_who_kills_every_worker_of_a_cluster_is_listed(dask, city, tmp_path, monkeypatch):
    for _ in range(2):
        dask.worker("--nanny", "--local-directory", str(tmp_path))
    dask.wait_for(2)
    monkeypatch.setattr(running, "protect", dies_always)
    assert run_fleet(city, tmp_path / "out", job=JOB, engine=dask.engine).reasons == {running.DIED: 1}
    assert labels_of(tmp_path / "out")["reason"].dropna().index.tolist() == ["person-001"]


def test_what_is_lost_is_told_and_what_is_finished_stays(dask, city, undisturbed, tmp_path, monkeypatch):
    worker = dask.worker("--no-nanny")
    dask.wait_for(1)
    finished = []

    def end_it(news, done, count):
        if done == 1 and news == "users":
            finished.extend((tmp_path / "out" / "done").iterdir())
            dask.processes[0].kill()

    with pytest.raises(EngineError, match="cluster was lost"):
        run_fleet(city, tmp_path / "out", job=JOB, engine=dask.engine, progress=end_it)
    assert finished
    worker.kill()
    assert run_fleet(city, tmp_path / "out", job=JOB, workers=1).reused >= len(finished)
    assert_same(tmp_path / "out", undisturbed)


def test_workers_with_another_hideseek_are_refused(dask, city, tmp_path):
    old = tmp_path / "old" / "hideseek-0.0.1.dist-info" / "METADATA"
    old.parent.mkdir(parents=True)
    old.write_text("Metadata-Version: 2.1\nName: hideseek\nVersion: 0.0.1\n")
    paths = [str(tmp_path / "old"), *sys.path]
    dask.environment |= {"PYTHONPATH": os.pathsep.join(paths)}
    dask.worker("--no-nanny")
    dask.wait_for(1)
    with pytest.raises(EngineError, match=r"worker at tcp://127\S+ has hideseek 0\.0\.1; here it is"):
        run_fleet(city, tmp_path / "out", job=JOB, engine=dask.engine)
    assert not (tmp_path / "out").exists()


class Fickle:
    """A client whose calls end as it is told: with a value, with an error, or never; busy at first."""

    def __init__(self, *ends):
        self.ends, self.busy = list(ends), [True]

    def get_executor(self, pure):
        assert not pure  # a call that is made again is not the one that failed
        return self

    def submit(self, *_):
        future, end = Future(), self.ends.pop(0)
        if isinstance(end, Exception):
            future.set_exception(end)
        elif end is not None:
            future.set_result(end)
        return future

    def processing(self):
        return {"one": (), "other": ("call",) if self.busy and self.busy.pop() else ()}


def test_a_call_that_a_cluster_gave_up_is_made_twice_more(monkeypatch):
    monkeypatch.setattr(engines, "WAITING", 0.01)
    died, never = KilledWorker("call", None, 1), None
    for first in (died, engines.ForgottenError()):
        for ends, result in (([5], 5), ([died, 5], 5), ([never, 5], 5), ([never, died], None), ([never, never], None)):
            client = Fickle(*ends)
            assert engines.Cluster(client).again(first, abs, -5) == result
            assert not client.ends
        with pytest.raises(EngineError, match=r"cluster was lost \(OSError\)"):
            engines.Cluster(Fickle(OSError("gone"), 5)).again(first, abs, -5)


def test_something_else_that_listens_is_no_scheduler(city, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "CONNECTING", 1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(EngineError, match=f"unreachable: no Dask scheduler answers at 127.0.0.1:{port}"):
            run_fleet(city, tmp_path / "out", job=JOB, engine=f"dask://127.0.0.1:{port}")
    assert not (tmp_path / "out").exists()


def test_a_cluster_whose_workers_are_all_gone_is_told(dask, city, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "WAITING", 3)
    monkeypatch.setattr(running, "protect", dies_always)
    worker = dask.worker("--no-nanny")
    dask.wait_for(1)
    with pytest.raises(EngineError, match="no workers for 3 s"):
        run_fleet(city, tmp_path / "out", job=JOB, engine=dask.engine)
    assert worker.wait() == -signal.SIGKILL
