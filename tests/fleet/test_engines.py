"""The worker backends of a fleet: processes on this machine."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from hideseek.fleet import engines
from tests.support.fleets import Slow


def born_with(name):
    """The value of a variable that a process was started with."""
    born = dict(pair.split("=", 1) for pair in Path("/proc/self/environ").read_text().split("\0") if "=" in pair)
    return born.get(name)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")
def test_a_worker_has_one_thread_from_its_birth(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    with engines.engine_of("joblib", 1) as engine:
        names = iter([("OPENBLAS_NUM_THREADS",), ("OMP_NUM_THREADS",)])
        assert {one for _, one in engines.each_result(engine, born_with, names)} == {"1"}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_workers_end_with_the_engine_and_failed_calls_are_not_repeated():
    with engines.engine_of("joblib", 1) as engine:
        ((_, worker),) = engines.each_result(engine, os.getpid, iter([()]))
        assert Path(f"/proc/{worker}").exists()
        with pytest.raises(ZeroDivisionError):
            engine.again(ZeroDivisionError(), abs, -1)
    assert not Path(f"/proc/{worker}").exists()


def test_calls_that_share_a_process_are_made_one_at_a_time():
    both, met = Barrier(2), []

    def work(number):
        with suppress(BrokenBarrierError):  # nobody else is there, for as long as one cares to wait
            both.wait(0.5)
            met.append(number)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(engines.alone, [work] * 2, range(2)))
    assert not met


def test_only_a_few_tasks_are_under_way_at_a_time():
    engine, drawn = Slow(), []
    tasks = ((drawn.append(k) or k,) for k in range(50))
    for done, ((task,), result) in enumerate(engines.each_result(engine, lambda k: k * k, tasks), start=1):
        engine.open -= 1
        assert result == task * task
        assert len(drawn) - done < 2 * engine.workers()
    assert (done, engine.most) == (50, 6)


def test_no_task_is_left_out_while_there_are_no_workers(monkeypatch):
    monkeypatch.setattr(Slow, "workers", lambda _: 0)
    found = engines.each_result(Slow(), abs, iter([(-1,), (-2,), (-3,)]))
    assert dict(found) == {(-1,): 1, (-2,): 2, (-3,): 3}


def test_a_call_that_the_engine_lost_sight_of_is_made_again(monkeypatch):
    class Forgetful:
        begun, made_again = 0, []

        def workers(self):
            return 2

        def idle(self):
            return True

        def submit(self, function, *task):
            self.begun += 1
            future = Future()
            if self.begun != 2:
                future.set_result(function(*task))
            return future

        def again(self, error, function, *task):
            assert isinstance(error, engines.ForgottenError)
            self.made_again.append(task)
            return function(*task)

    monkeypatch.setattr(engines, "WAITING", 0.05)
    engine = Forgetful()
    found = dict(engines.each_result(engine, abs, ((number,) for number in (-1, -2, -3))))
    assert found == {(-1,): 1, (-2,): 2, (-3,): 3}
    assert engine.made_again == [(-2,)]
