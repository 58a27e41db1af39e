"""An interrupted training continues from its snapshot bit for bit, with consistent records."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.models.neural import checkpoint
from thetahat.objective.network import descent

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 4))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
OPTIONS = {"hidden_layer_sizes": (16,), "max_iter": 12, "tol": None, "random_state": 0}
SETTINGS = [
    {},
    {"solver": "sgd", "learning_rate": "adaptive", "tol": 1e-1, "n_iter_no_change": 1},
    {"solver": "sgd", "momentum": 0.0, "learning_rate": "invscaling"},
    {"early_stopping": True, "tol": 1e-6, "dropout": 0.2},
    {"hidden_layer_sizes": (8, th.neural.BatchNorm()), "solver": "adamw"},
]
RECORDS = ("loss_curve_", "n_iter_", "t_", "validation_scores_", "best_loss_")


def same(ours, whole):
    for a, b in zip(
        (*ours.coefs_, *ours.intercepts_), (*whole.coefs_, *whole.intercepts_), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    for name in RECORDS:
        assert getattr(ours, name) == getattr(whole, name), name


def interrupt_in_step(monkeypatch, number):
    """Press Ctrl-C in the middle of an epoch."""
    gradient, calls = descent._Step._gradient, []

    def pressed(self, *arguments):
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        return gradient(self, *arguments)

    monkeypatch.setattr(descent._Step, "_gradient", pressed)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", SETTINGS)
def test_after_ctrl_c_the_fit_goes_on_bit_for_bit(tmp_path, monkeypatch, settings):
    options = OPTIONS | settings
    whole = th.MLPRegressor(**options, batch_size=100).fit(X, Y)
    model = th.MLPRegressor(**options, batch_size=100, checkpoint=tmp_path / "fit.npz")
    with monkeypatch.context() as patch:
        interrupt_in_step(patch, 8)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    assert model.n_iter_ == len(model.loss_curve_) == 2
    assert (tmp_path / "fit.npz").exists()
    same(model.fit(X, Y), whole)
    assert not (tmp_path / "fit.npz").exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_after_the_time_limit_the_fit_goes_on_bit_for_bit(tmp_path):
    labels = (Y > 0).astype(int)
    model = th.MLPClassifier(**OPTIONS, checkpoint=str(tmp_path / "fit.npz"))
    for _ in range(3):
        with th.config(max_time=1e-9):
            model.fit(X, labels)
    assert model.n_iter_ == 3
    same(model.fit(X, labels), th.MLPClassifier(**OPTIONS).fit(X, labels))


PROGRAM = """
import sys
import numpy as np
import thetahat as th
from thetahat.models.neural import checkpoint

checkpoint.SECONDS_BETWEEN = 0.0
random = np.random.default_rng(0)
X = random.standard_normal((300, 4))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
th.MLPRegressor(
    hidden_layer_sizes=(16,), max_iter=10**6, tol=None, random_state=0, checkpoint=sys.argv[1]
).fit(X, y)
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.processes
def test_a_killed_fit_resumes_to_the_same_bits(tmp_path):
    path = tmp_path / "fit.npz"
    run = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)])
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert path.exists()
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    with np.load(path) as held:
        kept = len(held["curve"])
    options = OPTIONS | {"max_iter": kept + 5}
    resumed = th.MLPRegressor(**options, checkpoint=path).fit(X, Y)
    same(resumed, th.MLPRegressor(**options).fit(X, Y))


def test_snapshots_of_other_fits_and_other_files_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    with monkeypatch.context() as patch:
        interrupt_in_step(patch, 8)
        with pytest.raises(KeyboardInterrupt):
            th.MLPRegressor(**OPTIONS, checkpoint=path).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="other rows or with other parameters"):
        th.MLPRegressor(**OPTIONS, alpha=0.5, checkpoint=path).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="other rows or with other parameters"):
        th.MLPRegressor(**OPTIONS, checkpoint=path).fit(X, Y + 1)
    path.write_bytes(b"something else")
    with pytest.raises(th.errors.DataError, match="is not a snapshot of a fit"):
        th.MLPRegressor(**OPTIONS, checkpoint=path).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="has no epochs"):
        th.MLPRegressor(solver="lbfgs", checkpoint=path).fit(X, Y)


def test_the_file_is_not_written_after_each_quick_epoch(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(checkpoint, "write_snapshot", lambda *parts: saved.append(parts))
    with pytest.warns(ConvergenceWarning):
        th.MLPRegressor(**(OPTIONS | {"tol": 0.0}), checkpoint=tmp_path / "fit.npz").fit(X, Y)
    assert not saved


def test_after_ctrl_c_the_records_belong_to_the_weights(monkeypatch):
    with pytest.warns(ConvergenceWarning):
        model = th.MLPRegressor(**(OPTIONS | {"tol": 0.0})).fit(X, Y)
    interrupt_in_step(monkeypatch, 8)  # an epoch has 2 batches
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert (model.n_iter_, len(model.loss_curve_), model.t_) == (3, 3, 900)
    assert model.loss_ == model.loss_curve_[-1] == model.solution_.value


class CtrlC:
    """Interrupts a fit after a few iterations."""

    def setup(self, estimator, context):
        self.ended = 0

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        if self.ended == 3:
            raise KeyboardInterrupt


def test_after_ctrl_c_the_records_of_lbfgs_belong_to_the_weights():
    with pytest.warns(ConvergenceWarning):
        model = th.MLPRegressor(**(OPTIONS | {"tol": 0.0})).fit(X, Y)
    model.set_params(solver="lbfgs").set_callbacks(CtrlC())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_iter_ == model.solution_.steps == 3
    assert model.loss_ == model.solution_.value
    assert model.t_ == 900
    assert not hasattr(model, "loss_curve_")


STACK = {"hidden_layer_sizes": (5, 4), "max_iter": 4, "pretraining_iter": 3, "tol": None}
SEEDS = [lambda: 0, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)]


def stack(seed, path=None):
    return th.StackedAutoencoder(2, **STACK, batch_size=100, random_state=seed(), checkpoint=path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", [5, 10, 13, 20, 28, 34])
def test_a_stack_continues_in_the_stage_where_it_was(tmp_path, monkeypatch, seed, step):
    """Three levels of 9 steps each, then 12 of the whole network."""
    path = tmp_path / "fit.npz"
    whole, model = stack(seed).fit(X), stack(seed, path)
    with monkeypatch.context() as patch:
        interrupt_in_step(patch, step)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    assert path.exists()
    steps = count_steps(monkeypatch)
    same(model.fit(X), whole)
    np.testing.assert_array_equal(model.pretraining_losses_, whole.pretraining_losses_)
    assert len(steps) == 39 - 3 * ((step - 1) // 3)
    assert not path.exists()


def count_steps(monkeypatch):
    gradient, calls = descent._Step._gradient, []

    def counted(self, *arguments):
        calls.append(1)
        return gradient(self, *arguments)

    monkeypatch.setattr(descent._Step, "_gradient", counted)
    return calls


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_stack_continues_after_the_time_limit_in_a_level(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    model = stack(SEEDS[0], path)
    with th.config(max_time=1e-9):
        model.fit(X)
        assert np.isfinite(model.score(X))
        model.fit(X)
    steps = count_steps(monkeypatch)
    same(model.fit(X), stack(SEEDS[0]).fit(X))
    assert len(steps) <= 39 - 6 + 39
    assert not path.exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_older_snapshot_of_a_stack_continues(tmp_path, monkeypatch):
    """It has the last stage only; the levels are trained again."""
    path = tmp_path / "fit.npz"
    model = stack(SEEDS[0], path)
    with monkeypatch.context() as patch:
        interrupt_in_step(patch, 34)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files if not name.startswith("stage")}
    facts = json.loads(arrays.pop("facts").tobytes())
    assert facts.pop("stage") == 3
    assert len(facts.pop("before")) == 2
    text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    np.savez(path, **arrays, facts=text)
    steps = count_steps(monkeypatch)
    same(model.fit(X), stack(SEEDS[0]).fit(X))
    assert len(steps) == 27 + 6 + 39
