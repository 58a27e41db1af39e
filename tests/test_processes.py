"""Forked children, scarce memory, many threads: the process lives on, with the same answers."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((4000, 8))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)

COMMON = """
import os, resource, signal, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import thetahat as th
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from thetahat.catalog import estimators
from thetahat.estimator.classifier import LabelledEstimator

def targets(model, x):
    y = np.abs(x @ np.arange(1.0, x.shape[1] + 1)) + 0.1
    if not get_tags(model).target_tags.single_output:
        return np.column_stack([y, y + 1])
    labelled = isinstance(model, LabelledEstimator) and not is_regressor(model)
    return (y > np.median(y)).astype(int) if is_classifier(model) or labelled else y

def suited(model, x):
    whole = get_tags(model).input_tags.categorical  # its numbers stand for categories
    return np.minimum(np.floor(x), 2) if whole else x

def example_of(name):
    model = estimators()[name]._example()
    known = model.get_params()
    few = {"n_estimators": 10} if "n_estimators" in known else {}
    if "max_leaf_nodes" in known and "max_iter" in known:  # boosting, a tree per iteration
        few |= {"max_iter": 10}
    return model.set_params(**few)

def outcome_of_child(work, seconds=120):
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            work()
        except MemoryError as failure:
            os._exit(10)
        except BaseException as failure:
            print(type(failure).__name__, failure, flush=True)
            os._exit(11)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

random = np.random.default_rng(0)
"""

FORK = """
x = np.abs(random.standard_normal((6000, 6))) + 0.1
small = x[:600]
th.DecisionTreeClassifier(max_depth=6).fit(x, (x[:, 0] > 1).astype(int))  # starts the threads
failed = 0
names = [name for name in estimators() if len(sys.argv) < 2 or name in sys.argv[1:]]
for name in names:
    rows = suited(example_of(name), x if len(sys.argv) > 1 else small)
    model = example_of(name).fit(rows, targets(example_of(name), rows))
    found = outcome_of_child(lambda: clone(model).fit(rows, targets(model, rows)))
    if found != 0:
        print(name, found, flush=True)
        failed += 1
print(len(names), "estimators")
sys.exit(bool(failed))
"""

SCARCE = """
n, levels = int(sys.argv[1]), [float(level) for level in sys.argv[2].split(",")]
x = np.abs(random.standard_normal((n, 24))) + 0.1
small = x[:400]
failed = 0
for name in sys.argv[3:] or estimators():
    example = example_of(name)
    y, rows, few = targets(example, x), suited(example, x), suited(example, small)
    model = clone(example).fit(few, targets(example, few))  # what is imported stays
    for level in levels:
        def work():
            pages = int(open("/proc/self/statm").read().split()[0])
            limit = pages * resource.getpagesize() + int(level * 2**20)
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            clone(model).fit(rows, y)
        found = outcome_of_child(work, 240)
        if found not in (0, 10):
            print(name, level, found, flush=True)
            failed += 1
sys.exit(bool(failed))
"""


PROCESSES = (
    COMMON
    + """
import json
estimators()  # imports them
for line in sys.stdin:
    script, arguments, said, complained = json.loads(line)
    child = os.fork()
    if child == 0:
        break
    status = os.waitpid(child, 0)[1]
    print(os.waitstatus_to_exitcode(status), flush=True)
else:
    sys.exit()
for name, place in ((os.devnull, 0), (said, 1), (complained, 2)):
    os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), place)
sys.argv = ["-c", *arguments]
exec(script)  # and then the end of a process: it waits for its threads
"""
)
"""Imports the library once, and then forks a process for every script that it is sent."""


@pytest.fixture(scope="module")
def processes():
    command = [sys.executable, "-c", PROCESSES]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        yield server
        server.stdin.close()


@pytest.fixture
def run(processes, tmp_path):
    """A function that runs a script in a process of its own and gives what it printed."""

    def run_script(script, *arguments, limit=600):
        files = [tmp_path / "said", tmp_path / "complained"]
        print(json.dumps([script, arguments, *map(str, files)]), file=processes.stdin, flush=True)
        if not select.select([processes.stdout], [], [], limit)[0]:
            os.killpg(processes.pid, signal.SIGKILL)
            pytest.fail(f"no end after {limit} seconds")
        code, said, complained = processes.stdout.readline(), *(file.read_text() for file in files)
        assert code.strip() == "0", said + complained[-2000:]
        return said

    return run_script


FORK_WHILE_FITTING = """
import threading
x = random.standard_normal((4000, 3))
failed = 0
for name in sys.argv[1:]:
    example_of(name).fit(x, targets(example_of(name), x))  # Python locks modules that it imports
    stop = threading.Event()
    def fits():
        while not stop.is_set():
            example_of(name).fit(x, targets(example_of(name), x))
    worker = threading.Thread(target=fits)
    worker.start()
    child = lambda: example_of(name).fit(x[:50], targets(example_of(name), x[:50]))
    ends = [outcome_of_child(child, seconds=20) for _ in range(6)]
    stop.set()
    worker.join()
    if any(ends):
        print(name, ends, flush=True)
        failed += 1
sys.exit(failed)
"""


needs_fork = pytest.mark.skipif(
    sys.platform != "linux", reason="needs the forks and limits of Linux"
)


@needs_fork
def test_models_on_many_threads_fit_in_a_forked_child(run):
    run(
        FORK,
        "DecisionTreeClassifier",
        "RandomForestClassifier",
        "HistGradientBoostingClassifier",
        "LinearRegression",
    )


@needs_fork
def test_a_child_that_is_forked_during_a_fit_can_fit(run):
    """It must not inherit a lock that a thread of the parent holds."""
    run(FORK_WHILE_FITTING, "KNeighborsRegressor", "KernelDensity")


@needs_fork
@pytest.mark.slow
def test_every_estimator_fits_in_a_forked_child(run):
    assert "estimators" in run(FORK)


@needs_fork
def test_scarce_memory_is_a_memory_error(run):
    run(
        SCARCE,
        "15000",
        "1,3,10",
        "DecisionTreeClassifier",
        "RandomForestClassifier",
        "HistGradientBoostingClassifier",
        "AdaBoostClassifier",
        "LogisticRegression",
    )


@needs_fork
def test_threads_start_only_where_their_first_memory_is_there(run):
    """Where a thread cannot have the memory of libraries for it, the C library ends the process."""
    levels = ",".join(f"{step / 5:.1f}" for step in range(1, 41))
    run(SCARCE, "4000", levels, "DecisionTreeClassifier")


@needs_fork
@pytest.mark.slow
def test_scarce_memory_is_a_memory_error_for_every_estimator(run):
    run(SCARCE, "4000", "0.5,1,2,4,6,8,12,20,30,60", limit=3600)


@needs_fork
def test_trees_say_how_much_memory_they_need(run):
    """More than the 64 MiB of addresses that the C library may have reserved for a thread."""
    script = (
        "x = random.standard_normal((400000, 24)); y = x[:, 0]\n"
        "th.RandomForestRegressor(2).fit(x[:400], y[:400])\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * resource.getpagesize() + (6 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        "    th.RandomForestRegressor(2).fit(x, y)\n"
        "except th.errors.MemoryBudgetError as failure:\n"
        "    print(failure)\n"
    )
    assert "needs about" in run(script)


def test_without_further_threads_the_work_is_done_on_this_one(monkeypatch):
    from thetahat.foundation import threads

    expected = th.Ridge().fit(X, Y).coef_

    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pools", {})
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with th.config(threads=4):
        assert list(threads.ordered_map(abs, [-1, -2, -3])) == [1, 2, 3]
        done = []
        threads.parallel_for(done.append, [1, 2, 3])
        assert done == [1, 2, 3]
        np.testing.assert_array_equal(th.Ridge().fit(X, Y).coef_, expected)
        th.evaluate(th.Ridge(), X, Y, cv=3)


@pytest.mark.parametrize(
    "model",
    [
        th.DecisionTreeClassifier(max_depth=6),
        th.RandomForestClassifier(6, random_state=0),
        th.HistGradientBoostingClassifier(max_iter=5),
        th.LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_eight_threads_at_once_get_the_same_bits(model):
    from sklearn.base import clone

    expected = clone(model).fit(X, Y).predict_proba(X)
    shared = clone(model).fit(X, Y)
    with ThreadPoolExecutor(8) as pool:
        fits = list(pool.map(lambda _: clone(model).fit(X, Y).predict_proba(X), range(8)))
        answers = list(pool.map(lambda _: shared.predict_proba(X), range(16)))
    for found in fits + answers:
        np.testing.assert_array_equal(found, expected)


@needs_fork
@pytest.mark.parametrize(
    ("rows", "rounds"), [(300, 160), pytest.param(60, 2000, marks=pytest.mark.slow)]
)
def test_memory_does_not_grow_with_the_number_of_fits(run, rows, rounds):
    """Each round fits five models, so that the long one makes ten thousand fits."""
    script = (
        f"x = random.standard_normal(({rows}, 6)); y = (x[:, 0] > 0).astype(int)\n"
        "models = [th.DecisionTreeClassifier(), th.RandomForestClassifier(3), th.Ridge(),\n"
        "          th.HistGradientBoostingClassifier(max_iter=3), th.LogisticRegression()]\n"
        "def resident():\n"
        "    return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()\n"
        "def fits(count):\n"
        "    for _ in range(count):\n"
        "        for model in models:\n"
        "            clone(model).fit(x, y).predict(x)\n"
        f"fits(40); before = resident(); fits({rounds}); grown = resident() - before\n"
        "print(grown); sys.exit(grown > 3 << 20)\n"
    )
    run(script)


@needs_fork
@pytest.mark.parametrize(
    "model",
    [
        "th.RandomForestClassifier(100000)",
        "th.HistGradientBoostingClassifier(max_iter=100000, early_stopping=False)",
        "th.SGDClassifier(max_iter=10**9, tol=None)",
    ],
)
def test_control_c_stops_a_fit_soon_and_keeps_the_model(run, model):
    script = (
        "x = random.standard_normal((4000, 10)); y = (x[:, 0] > 0).astype(int)\n"
        f"model = {model}\n"
        "stopped = []\n"
        "def press(signum, frame):\n"
        "    stopped.append(time.monotonic()); raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, press); signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
        "try:\n"
        "    model.fit(x, y)\n"
        "except KeyboardInterrupt:\n"
        "    print(round(time.monotonic() - stopped[0], 2), model.score(x, y))\n"
    )
    seconds, score = map(float, run(script).split())
    assert seconds < 1.0
    assert score > 0.8


@needs_fork
@pytest.mark.parametrize(
    "work",
    [
        "th.VotingClassifier([('a', long), ('b', long)]).fit(x, y)",
        "th.evaluate(long, x, y, cv=2)",
    ],
)
def test_control_c_ends_the_fits_on_other_threads(run, work):
    script = (
        "x = random.standard_normal((4000, 10)); y = (x[:, 0] > 0).astype(int)\n"
        "long = th.SGDClassifier(max_iter=10**9, tol=None)\n"
        "def press(signum, frame): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, press); signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
        "with th.config(threads=2):\n"
        "    try:\n"
        f"        {work}\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted')\n"
    )
    assert run(script, limit=60).split() == [
        "interrupted"
    ]  # the process ends; it waits for its threads


@needs_fork
def test_control_c_leaves_the_work_of_other_threads_alone(run):
    script = (
        "import threading\n"
        "x = random.standard_normal((800, 6)); y = (x[:, 0] > 0).astype(int)\n"
        "brief = th.RandomForestClassifier(40, random_state=0)\n"
        "long = th.SGDClassifier(max_iter=10**9, tol=None)\n"
        "def press(signum, frame): raise KeyboardInterrupt\n"
        "def other():\n"
        "    while not stopped: th.evaluate(brief, x, y)\n"
        "    for _ in range(2): done.append(th.evaluate(brief, x, y))\n"
        "done, stopped = [], []; signal.signal(signal.SIGALRM, press)\n"
        "with th.config(threads=2):\n"
        "    beside = threading.Thread(target=other, daemon=True); beside.start()\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
        "    try:\n"
        "        th.evaluate(long, x, y, cv=2)\n"
        "    except KeyboardInterrupt:\n"
        "        stopped.append(True); beside.join(60); print(len(done))\n"
    )
    assert run(script, limit=120).split() == ["2"]
