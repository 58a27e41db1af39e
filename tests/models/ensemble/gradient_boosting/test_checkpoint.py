"""A fit that is killed continues from its snapshot, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import thetahat as th
from thetahat.models.ensemble.gradient_boosting import checkpoint

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3000, 5))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]

PROGRAM = """
import sys
import numpy as np
import thetahat as th
from thetahat.models.ensemble.gradient_boosting import checkpoint

checkpoint.SECONDS_BETWEEN = 0.0
random = np.random.default_rng(0)
X = random.standard_normal((3000, 5))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
th.GradientBoostingRegressor(
    n_estimators=100_000, subsample=0.5, random_state=3, n_iter_no_change=90_000,
    checkpoint=sys.argv[1]
).fit(X, y)
"""


@pytest.mark.processes
def test_a_killed_fit_resumes_to_the_same_bits(tmp_path):
    path = tmp_path / "long.npz"
    run = subprocess.Popen([sys.executable, "-c", textwrap.dedent(PROGRAM), str(path)])
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert path.exists()
        time.sleep(0.1)
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    with np.load(path) as held:
        kept = len(json.loads(held["facts"].tobytes())["sizes"])
    assert kept >= 1
    options = {"n_estimators": kept + 10, "subsample": 0.5, "random_state": 3}
    options["n_iter_no_change"] = 90_000
    resumed = th.GradientBoostingRegressor(**options, checkpoint=path).fit(X, Y)
    assert not path.exists()
    whole = th.GradientBoostingRegressor(**options).fit(X, Y)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
    assert resumed.n_estimators_ == kept + 10
    np.testing.assert_array_equal(resumed.train_score_, whole.train_score_)


@pytest.mark.parametrize("reoptimise", ["last", "all"])
def test_an_interrupt_leaves_a_snapshot(tmp_path, monkeypatch, reoptimise):
    from thetahat.models.ensemble.gradient_boosting import tree_rounds

    path = tmp_path / "fit.npz"
    grow, calls = tree_rounds.grow_tree, []

    def stubborn(*arguments, **options):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return grow(*arguments, **options)

    monkeypatch.setattr(tree_rounds, "grow_tree", stubborn)
    options = {"max_iter": 12, "reoptimise": reoptimise}
    model = th.HistGradientBoostingRegressor(**options, checkpoint=str(path))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert path.exists()
    resumed = model.fit(X, Y)
    assert len(calls) == 5 + 8
    np.testing.assert_array_equal(
        resumed.predict(X), th.HistGradientBoostingRegressor(**options).fit(X, Y).predict(X)
    )


def test_rows_and_parameters_must_be_those_of_the_snapshot(tmp_path):
    path = tmp_path / "fit.npz"
    model = th.HistGradientBoostingRegressor(max_iter=3, checkpoint=path)
    fitted = th.HistGradientBoostingRegressor(max_iter=3).fit(X, Y)
    kept = checkpoint.Checkpoint(path, "of something else")
    kept.write(fitted._trees, 0, {}, fitted._start)
    with pytest.raises(th.errors.DataError, match="other rows or with other parameters"):
        model.fit(X, Y)
