"""Single-row steps as rows arrive, and when they stop."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.stochastic.sgd_data import (
    CLASSES,
    SIGNS,
    SLOPES,
    D,
    InBlocks,
    N,
    X,
    Y,
    assert_same,
)

# --- as rows arrive ------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True, 400])
def test_partial_fits_are_epochs(average):
    options = {"shuffle": False, "average": average}
    whole = th.SGDClassifier(max_iter=3, tol=None, **options).fit(X, CLASSES)
    parts = th.SGDClassifier(**options)
    for _ in range(3):
        parts.partial_fit(X, CLASSES, classes=["a", "b", "c"])
    assert_same(parts, whole)
    assert parts.t_ == whole.t_
    regressor = th.SGDRegressor(**options)
    for _ in range(3):
        regressor.partial_fit(X, Y)
    assert_same(regressor, th.SGDRegressor(max_iter=3, tol=None, **options).fit(X, Y))


@pytest.mark.parametrize("loss", ["hinge", "softmax_cross_entropy"])
def test_partial_fits_of_blocks_are_an_epoch(loss):
    options = {"loss": loss, "shuffle": False, "average": True}
    parts = th.SGDClassifier(**options)
    for rows in np.split(np.arange(N), [70, 71, 200]):
        parts.partial_fit(X[rows], CLASSES[rows], classes=["a", "b", "c"])
    assert_same(parts, th.SGDClassifier(max_iter=1, tol=None, **options).fit(X, CLASSES))


def test_a_source_is_read_block_by_block():
    blocks = InBlocks(rows=X, targets=Y, n_features=D)
    options = {"max_iter": 20, "tol": None}
    in_order = th.SGDRegressor(shuffle=False, **options)
    assert_same(in_order.fit(blocks), th.SGDRegressor(shuffle=False, **options).fit(X, Y))
    shuffled = th.SGDRegressor(random_state=0, **options).fit(blocks)
    assert not np.array_equal(shuffled.coef_, in_order.coef_)
    np.testing.assert_allclose(shuffled.coef_, SLOPES, atol=0.1)
    again = th.SGDRegressor(random_state=0, **options).fit(blocks)
    np.testing.assert_array_equal(shuffled.coef_, again.coef_)


def test_rows_in_a_file(tmp_path):
    np.savetxt(tmp_path / "rows.csv", np.c_[X, SIGNS], delimiter=",")
    header = ",".join([f"x{j}" for j in range(D)] + ["label"])
    text = (tmp_path / "rows.csv").read_text()
    (tmp_path / "rows.csv").write_text(header + "\n" + text)
    source = th.scan(tmp_path / "rows.csv", target="label")
    options = {"max_iter": 3, "tol": None, "shuffle": False}
    from_file = th.SGDClassifier(**options).fit(source)
    assert_same(from_file, th.SGDClassifier(**options).fit(X, SIGNS))
    parts = th.SGDClassifier(shuffle=False).partial_fit(source, classes=[-1, 1])
    assert parts.t_ == N + 1


def test_a_memory_map_is_read_in_order(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    options = {"max_iter": 3, "tol": None, "random_state": 0}
    assert_same(th.SGDRegressor(**options).fit(mapped, Y), th.SGDRegressor(**options).fit(X, Y))


def test_warm_starts_and_given_starts():
    options = {"shuffle": False, "max_iter": 2, "tol": None, "learning_rate": "constant"}
    warm = th.SGDClassifier(warm_start=True, **options).fit(X, CLASSES)
    begin = warm.coef_.copy(), warm.intercept_.copy()
    given = th.SGDClassifier(**options).fit(X, CLASSES, coef_init=begin[0], intercept_init=begin[1])
    assert_same(warm.fit(X, CLASSES), given)
    assert_same(given, th.SGDClassifier(**options | {"max_iter": 4}).fit(X, CLASSES))


# --- when to stop ------------------------------------------------------------------------------


def test_early_stopping_judges_by_rows_held_out():
    options = {"early_stopping": True, "random_state": 0, "validation_fraction": 0.2}
    model = th.SGDClassifier(**options).fit(X, CLASSES)
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    assert model.solution_.gap_kind == "change of the held-out score"
    assert model.t_ == 1 + model.n_iter_ * 240
    # Scores no longer improve by more than 1: after the first epoch, five more.
    assert th.SGDRegressor(tol=1.0, **options).fit(X, Y).n_iter_ == 6


def test_too_few_epochs_are_reported():
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        model = th.SGDRegressor(max_iter=2, random_state=0).fit(X, Y)
    assert model.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED


def test_time_limits_end_a_fit():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.SGDRegressor().fit(X, Y)
    assert model.n_iter_ == 1


def test_epochs_are_reported_and_an_interrupt_keeps_the_last():
    class Interrupting:
        seen = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            self.seen += context.task_name == "step"
            if self.seen == 3:
                raise KeyboardInterrupt

    options = {"shuffle": False, "tol": None}
    model = th.SGDClassifier(**options).set_callbacks(Interrupting())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, CLASSES)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    assert_same(model, th.SGDClassifier(max_iter=3, **options).fit(X, CLASSES))


def test_the_report_says_by_which_rule_the_epochs_ended():
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X @ [1.0, 2.0, 3.0] > 0
    model = th.SGDClassifier(random_state=0).fit(X, y)
    assert "last 5 epochs the objective fell by more than 0.001" in model.solution_.message
    model.set_params(early_stopping=True).fit(X, y)
    assert "held-out score rose by more than 0.001" in model.solution_.message
    model.set_params(early_stopping=False).partial_fit(X, y)
    assert "without a rule" in model.solution_.message
