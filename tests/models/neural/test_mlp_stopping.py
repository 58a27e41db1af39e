"""Multilayer perceptrons: partial fits, warm starts, early stops and failed steps."""

import json

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.neural.mlp_data import X_IRIS, Y_IRIS, both, quietly, waves
from thetahat.objective.network import descent


@both
def test_partial_fits_are_the_epochs_of_a_fit(kind):
    settings = {"hidden_layer_sizes": (6,), "shuffle": False, "max_iter": 4}
    whole = quietly(kind(**settings, random_state=0), X_IRIS, Y_IRIS)
    parts = kind(**settings, random_state=0)
    for _ in range(4):
        if kind is th.MLPClassifier:
            parts.partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2])
        else:
            parts.partial_fit(X_IRIS, Y_IRIS)
    for W, V in zip(whole.coefs_, parts.coefs_, strict=True):
        np.testing.assert_array_equal(W, V)
    assert parts.loss_curve_ == whole.loss_curve_


@both
def test_warm_starts_go_on_and_other_networks_are_refused(kind):
    model = quietly(kind(max_iter=3, warm_start=True, random_state=0), X_IRIS, Y_IRIS)
    first = list(model.loss_curve_)
    quietly(model, X_IRIS, Y_IRIS)
    assert model.loss_curve_[:3] == first
    assert len(model.loss_curve_) == 6
    assert model.n_iter_ == 3
    with pytest.raises(th.errors.DataError, match="weights cannot be used"):
        model.set_params(hidden_layer_sizes=(3,)).fit(X_IRIS, Y_IRIS)


@both
def test_early_stopping_keeps_the_best_weights(kind):
    model = quietly(
        kind(early_stopping=True, random_state=0, learning_rate_init=0.01), X_IRIS, Y_IRIS
    )
    assert model.best_validation_score_ == max(model.validation_scores_)
    assert len(model.validation_scores_) == model.n_iter_
    assert model.best_loss_ is None
    assert model.score(X_IRIS, Y_IRIS) > 0.8


@pytest.mark.parametrize("early", [False, True])
def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_good_weights(early):
    X, y = waves(50)
    model = th.MLPRegressor(
        solver="sgd",
        learning_rate_init=1e60,
        activation="identity",
        random_state=0,
        early_stopping=early,
    )
    with pytest.warns(ConvergenceWarning, match="no longer finite; .*learning_rate_init"):
        model.fit(X, 1e6 * y)
    assert all(np.isfinite(W).all() for W in model.coefs_)
    assert np.isfinite(model.predict(X)).all()
    assert model.solution_.outcome is th.results.Outcome.DIVERGED


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_without_a_finite_loss_nothing_is_kept(solver):
    X, y = waves(50)
    model = th.MLPRegressor(solver=solver, random_state=0)
    message = r"the loss must be a finite number, .*, up to .*e\+200\. Scale the columns"
    with pytest.raises(th.errors.DataError, match=message):
        model.fit(X * 1e200, y)
    assert not hasattr(model, "coefs_")
    assert not hasattr(model, "loss_")


def test_an_earlier_fit_survives_rows_without_a_finite_loss():
    X, y = waves(50)
    model = th.MLPRegressor(hidden_layer_sizes=(5,), max_iter=3, warm_start=True, random_state=0)
    before = quietly(model, X, y).coefs_[0].copy()
    with pytest.warns(ConvergenceWarning, match="last good epoch are kept"):
        model.fit(X * 1e200, y)
    np.testing.assert_array_equal(model.coefs_[0], before)
    model.set_params(warm_start=False)
    with pytest.raises(th.errors.DataError, match="in the first epoch it is"):
        model.fit(X * 1e200, y)
    np.testing.assert_array_equal(model.coefs_[0], before)


def test_steps_that_are_too_long_are_reported():
    model = th.MLPRegressor(
        hidden_layer_sizes=(50,), activation="tanh", solver="sgd", learning_rate_init=1.0,
        max_iter=5, random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="far above that of the output 0"):
        model.fit(*waves())


def test_an_interrupt_keeps_the_weights_so_far():
    class Stop:
        calls = 0

        def setup(self, *args, **kwargs): ...
        def teardown(self, *args, **kwargs): ...
        def on_fit_task_begin(self, *args, **kwargs): ...

        def on_fit_task_end(self, *args, **kwargs):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt

    model = th.MLPRegressor(random_state=0).set_callbacks(Stop())
    with pytest.raises(KeyboardInterrupt):
        model.fit(*waves(50))
    assert model.predict(waves(5)[0]).shape == (5,)


def test_warm_starts_hold_out_the_same_rows():
    """Rows that have been learned before would make the scores of later calls too good."""
    settings = {"early_stopping": True, "max_iter": 1, "learning_rate_init": 1e-12}
    model = th.MLPRegressor(**settings, warm_start=True, random_state=0)
    for _ in range(3):
        quietly(model, X_IRIS, Y_IRIS)
    scores = model.validation_scores_
    np.testing.assert_allclose(scores, scores[0], rtol=1e-6)  # the steps are next to nothing


@pytest.mark.parametrize("seed", [3, np.uint8(3)])
def test_every_call_of_partial_fit_has_its_own_order_of_the_rows(monkeypatch, seed):
    """With the same seed, the second and all later calls would repeat order and dropout."""
    orders, batches = [], descent._Step._batches

    def watched(self, block, random):
        orders.append(np.random.Generator(type(random.bit_generator)()))
        orders[-1].bit_generator.state = random.bit_generator.state
        return batches(self, block, random)

    monkeypatch.setattr(descent._Step, "_batches", watched)
    X, y = waves(40)
    models = [th.MLPRegressor(hidden_layer_sizes=(3,), random_state=seed) for _ in range(2)]
    for model in models:
        for _ in range(4):
            model.partial_fit(X, y)
    drawn = [tuple(random.permutation(40)) for random in orders]
    assert len(set(drawn[:4])) == 4
    assert drawn[:4] == drawn[4:]
    np.testing.assert_array_equal(models[0].coefs_[0], models[1].coefs_[0])


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
@pytest.mark.parametrize(("loss", "power"), [("poisson", 1), ("gamma", 2), ("tweedie", 1.5)])
def test_the_loss_of_a_deviance_is_that_of_scikit_learn(loss, power, solver):
    """Half the mean deviance, which is 0 for perfect predictions, with the weights of the rows."""
    from sklearn.metrics import mean_tweedie_deviance

    X, _ = waves()
    y = np.random.default_rng(1).gamma(2.0, np.exp(X[:, 0] / 2))
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    model = th.MLPRegressor(
        loss, (5,), solver=solver, alpha=0.0, max_iter=300, learning_rate_init=1e-3, random_state=0
    )
    quietly(model, X, y, sample_weight=weight)
    half = mean_tweedie_deviance(y, model.predict(X), power=power, sample_weight=weight) / 2
    assert model.loss_ == pytest.approx(half, rel=1e-9 if solver == "lbfgs" else 1e-2)
    assert model.loss_ == model.solution_.value
    if solver == "adam":
        assert model.loss_ == model.loss_curve_[-1] == min(model.loss_curve_) == model.best_loss_
    two = th.MLPRegressor(loss, (5,), solver="lbfgs", alpha=0.0, random_state=0)
    quietly(two, X, np.column_stack([y, y + 1]))
    halves = [
        mean_tweedie_deviance(each, found, power=power) / 2
        for each, found in zip((y, y + 1), two.predict(X).T, strict=True)
    ]
    assert two.loss_ == pytest.approx(sum(halves), rel=1e-9)


def test_an_older_snapshot_of_a_deviance_continues(tmp_path):
    """Its losses are not those of a deviance, and are converted."""
    X, _ = waves()
    y = np.random.default_rng(1).poisson(np.exp(X[:, 0] / 2))
    options = {"loss": "poisson", "hidden_layer_sizes": (5,), "random_state": 0, "tol": 1e-9}
    whole = quietly(th.MLPRegressor(**options, max_iter=8), X, y)
    path = tmp_path / "fit.npz"
    model = th.MLPRegressor(**options, max_iter=8, checkpoint=path)
    with th.config(max_time=1e-9):
        quietly(model, X, y)
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files}
    facts = json.loads(arrays["facts"].tobytes())
    shift = facts.pop("shift")
    assert shift == pytest.approx(np.mean(y - xlogy(y, y)))
    arrays["curve"] = arrays["curve"] + shift
    for name in ("best", "last"):
        facts["progress"][name] += shift
    np.savez(path, **arrays | {"facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)})
    quietly(model, X, y)
    np.testing.assert_array_equal(model.coefs_[0], whole.coefs_[0])
    np.testing.assert_allclose(model.loss_curve_, whole.loss_curve_, rtol=1e-12)


@pytest.mark.parametrize(("patience", "epochs"), [(1, "1 consecutive epoch."), (2, "2 cons")])
@both
def test_the_printed_text_ends_with_the_reason_to_stop(kind, patience, epochs, capsys):
    options = {"n_iter_no_change": patience, "tol": 10.0, "verbose": True, "random_state": 0}
    kind(**options).fit(X_IRIS, Y_IRIS)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"Training loss did not improve more than tol=10.000000 for {epochs}")
    kind(**options, early_stopping=True).fit(X_IRIS, Y_IRIS)
    assert capsys.readouterr().out.splitlines()[-1].startswith("Validation score did not improve")
    quietly(kind(**options, max_iter=1), X_IRIS, Y_IRIS)
    assert capsys.readouterr().out.count("\n") == 1
