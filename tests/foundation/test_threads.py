"""One BLAS thread inside, what was before outside, SciPy's own BLAS included."""

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import thetahat as th
from thetahat.foundation.threads import (
    interruptible,
    n_threads,
    one_blas_thread,
    ordered_map,
    parallel_for,
    scipy_linalg,
)

LATE = """
import json, sys
import numpy
from threadpoolctl import threadpool_info
from thetahat.foundation.threads import one_blas_thread, scipy_linalg

def threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

before = threads()
with one_blas_thread():
    assert "scipy.linalg" not in sys.modules
    scipy_linalg()
    inside = threads()
    with one_blas_thread():
        pass
    assert threads() == inside
after = threads()
print(json.dumps([before, inside, after]))
"""


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    """The other tests run with one BLAS thread, which would leave nothing to limit."""
    scipy_linalg()
    with threadpool_limits(2, "blas"):
        yield


@pytest.mark.usefixtures("two_threads")
def test_one_thread_inside_and_as_before_outside():
    before = blas_threads()
    assert set(before) == {2}
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        with one_blas_thread():
            pass
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    "place", ["_OneBlasThread._limit", "_Limited.__enter__", "_Limited.__exit__"]
)
def test_an_interrupt_on_the_way_in_or_out_leaves_the_context(monkeypatch, place):
    """Otherwise no later context limits BLAS, because one seems to be open."""

    def interrupted(*arguments):
        raise KeyboardInterrupt

    def use():
        with one_blas_thread():
            pass

    before = blas_threads()
    with monkeypatch.context() as patch:
        patch.setattr(f"thetahat.foundation.threads.{place}", interrupted)
        with pytest.raises(KeyboardInterrupt) as stopped:
            use()
    del stopped
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.usefixtures("two_threads")
def test_other_python_threads_limit_blas_as_well():
    """Also after another thread has set it, which threadpoolctl takes for the owner."""
    with one_blas_thread():
        pass
    before, seen = blas_threads(), []
    assert set(before) == {2}

    def look():
        with one_blas_thread():
            seen.append(blas_threads())
        seen.append(blas_threads())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [[1] * len(before), before]


@pytest.mark.usefixtures("two_threads")
def test_fits_have_the_same_bits_on_other_python_threads():
    X = np.random.default_rng(0).standard_normal((300, 5))
    found = []

    def fit():
        found.append(th.KernelRidge(kernel="rbf", alpha=0.1).fit(X, X[:, 0]).dual_coef_)

    fit()
    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], found[1])


def test_scipy_loaded_inside_is_limited_too():
    """In a new process, where nobody has loaded SciPy yet."""
    run = subprocess.run(
        [sys.executable, "-c", LATE],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
    )
    before, inside, after = json.loads(run.stdout)
    assert len(before) <= len(inside)
    assert set(inside) == {1}
    assert set(after) == set(before)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_each_item_is_done_once(threads, count):
    done = []
    with th.config(threads=threads):
        parallel_for(done.append, range(count))
    assert sorted(done) == list(range(count))


def test_shared_work_may_share_its_own():
    done = []
    with th.config(threads=2):
        parallel_for(
            lambda outer: parallel_for(lambda inner: done.append((outer, inner)), range(5)),
            range(5),
        )
    assert sorted(done) == [(outer, inner) for outer in range(5) for inner in range(5)]


@pytest.mark.parametrize("items", [range(3), iter(range(2))])
def test_compiled_loops_of_parallel_work_use_its_share_of_the_threads(items):
    with th.config(threads=6):
        share = 2 if isinstance(items, range) else 1  # without a length there may be many
        assert set(ordered_map(lambda item: n_threads(), items)) == {share}
        assert n_threads() == 6


@pytest.mark.parametrize("failure", [IndexError, KeyboardInterrupt])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_failure_is_raised_and_nothing_begun_after_it(failure, threads):
    begun = []

    def work(item):
        begun.append(item)
        if item == 3:
            raise failure

    with th.config(threads=threads), pytest.raises(failure):
        parallel_for(work, range(10_000))
    assert len(begun) < 10_000


@pytest.mark.parametrize(
    "changes",
    [
        {"threads": 1.5},
        {"threads": True},
        {"threads": 100_000},
        {"threads": 0},
        {"memory": "1GB"},
        {"memory": -1},
        {"max_time": "x"},
        {"max_time": float("nan")},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(changes):
    ((name, value),) = changes.items()
    with pytest.raises(th.errors.ParameterError, match=f"config: {name}={value!r} must be"):
        th.config(**changes)


def test_settings_have_names():
    assert list(inspect.signature(th.config).parameters) == ["threads", "max_time", "memory"]
    with pytest.raises(TypeError, match="thread"):
        th.config(thread=1)


def test_a_setting_that_is_left_out_does_not_change():
    with th.config(threads=3, max_time=5.0), th.config(max_time=None) as now:
        assert (now.threads, now.max_time) == (3, None)


def test_settings_of_numpy_are_numbers():
    with th.config(threads=np.int64(2), max_time=np.float64(3.0), memory=np.int64(10**9)) as now:
        assert (now.threads, now.max_time, now.memory) == (2, 3.0, 10**9)


def test_an_interrupt_does_not_wait_for_a_long_call():
    done, before = threading.Event(), signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            interruptible(lambda: done.wait(60), products=1e12)
        assert not done.is_set()
    finally:
        done.set()
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_long_calls_return_results_errors_and_settings():
    with th.config(threads=3):
        assert interruptible(n_threads, products=1e12) == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0, products=1e12)


def test_after_an_interrupt_other_work_does_not_wait():
    """Work that has begun cannot be stopped; it goes on in a pool of its own."""
    release, begun = threading.Event(), threading.Event()

    def blocked(item):
        if item:
            begun.set()
            release.wait(60)
        return item

    try:
        with th.config(threads=2):
            results = ordered_map(blocked, [0, 1, 2, 3, 4, 5])
            assert next(results) == 0
            assert begun.wait(30)
            with pytest.raises(KeyboardInterrupt):
                results.throw(KeyboardInterrupt())
            with ThreadPoolExecutor(1) as aside:
                run = copy_context().run
                found = aside.submit(run, lambda: list(ordered_map(abs, [-1, -2, -3])))
                assert found.result(timeout=30) == [1, 2, 3]
    finally:
        release.set()
