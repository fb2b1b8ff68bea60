"""Engines map in order, stop when told, and obey what joblib and the environment allow."""

import _thread
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pytest
import threadpoolctl

from nearhit import ReliefF
from nearhit.engines import InLine, Threads, choose_engine
from nearhit.thread_limits import count_threads


@pytest.mark.parametrize("engine", [InLine(), Threads(1), Threads(2), Threads(7)])
def test_results_come_in_the_order_of_the_tasks(engine):
    def slow_square(x):
        time.sleep(0.002 * (5 - x % 5))
        return x * x

    assert list(engine.map(slow_square, range(20))) == [x * x for x in range(20)]


@pytest.mark.parametrize("make", [InLine, lambda report: Threads(3, report)])
def test_every_finished_task_is_reported(make):
    done = []
    list(make(done.append).map(lambda x: x, range(10)))
    assert sum(done) == 10


def test_an_error_drops_what_has_not_begun():
    started = []

    def work(x):
        started.append(x)
        if x == 0:
            raise ZeroDivisionError("first")
        time.sleep(0.05)

    with pytest.raises(ZeroDivisionError, match="first"):
        list(Threads(2).map(work, range(100)))
    assert len(started) < 20
    assert not [t for t in threading.enumerate() if t.name.startswith("nearhit")]


def test_an_interrupt_drops_what_has_not_begun():
    started = []

    def work(x):
        started.append(x)
        time.sleep(0.02)

    gc.collect()  # or garbage of other tests is collected now, and Python drops an interrupt in a callback of that
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        list(Threads(2).map(work, range(1000)))
    assert len(started) < 100


def test_few_tasks_run_in_line(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert isinstance(choose_engine(4, 1), InLine)
    assert isinstance(choose_engine(1, 100), InLine)
    assert choose_engine(4, 3) == Threads(3)


def test_how_many_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count_threads(3) == 3
    assert count_threads(None) == count_threads(-1) == joblib.effective_n_jobs(-1)
    with joblib.parallel_config(n_jobs=5, backend="threading"):
        assert count_threads(None) == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert count_threads(8) == 2


def test_a_worker_of_joblib_gets_one_thread():
    counts = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(count_threads)(None) for _ in range(2))
    assert counts == [1, 1]


one_core_is_no_limit = pytest.mark.skipif(joblib.effective_n_jobs(-1) == 1, reason="one core: no limit to set")


@one_core_is_no_limit
def test_threadpoolctl_has_a_say(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    machine = joblib.effective_n_jobs(-1)
    info = threadpoolctl.ThreadpoolController().select(user_api="nearhit").info()
    assert [library["num_threads"] for library in info] == [machine]
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert count_threads(8) == 8
    with threadpoolctl.threadpool_limits(1):
        assert count_threads(8) == count_threads(None) == 1
    assert (count_threads(8), count_threads(None)) == (8, machine)


@one_core_is_no_limit
def test_an_estimator_obeys():
    rng = np.random.default_rng(0)
    X, y = rng.random((2000, 100)), rng.integers(0, 2, 2000)
    with threadpoolctl.threadpool_limits(1):
        assert ReliefF(n_jobs=2).fit(X, y).kernel_.endswith("1 thread")
    assert ReliefF(n_jobs=2).fit(X, y).kernel_.endswith("2 threads")
    workers = joblib.Parallel(n_jobs=2)(joblib.delayed(kernel_of)(X, y, jobs) for jobs in (None, 2))
    assert [worker.rpartition(", ")[2] for worker in workers] == ["1 thread", "1 thread"]


def kernel_of(X, y, jobs):
    return ReliefF(n_jobs=jobs).fit(X, y).kernel_


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_within_a_second_and_leaves_nothing_fitted(jobs):
    script = textwrap.dedent(f"""
        import time
        import numpy as np
        from nearhit import ReliefF
        X = np.random.default_rng(0).random((150_000, 60))
        relief = ReliefF(n_jobs={jobs})
        print("ready", flush=True)
        try:
            relief.fit(X, X[:, 0] > X[:, 1])
        except KeyboardInterrupt:
            print("stopped", hasattr(relief, "weights_"), hasattr(relief, "n_features_in_"), flush=True)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.stdout.readline() == "stopped False False\n"
    assert time.monotonic() - begin < 1.0
    process.wait()
    process.stdout.close()
