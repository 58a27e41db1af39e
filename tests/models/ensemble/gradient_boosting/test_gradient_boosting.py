"""Gradient boosting: relations, peers as oracles, any loss, constraints."""

import numpy as np
import pytest
import sklearn.ensemble as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import thetahat as th
from tests.models.ensemble.gradient_boosting.boosting_data import (
    SIGN,
    X_TEST,
    Y_TEST,
    X,
    Y,
    mean_square,
)

# Relations


def test_stages_end_at_the_model_and_descend():
    model = th.GradientBoostingRegressor(n_estimators=30).fit(X, Y)
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    errors = [np.mean((stage - Y) ** 2) for stage in stages]
    np.testing.assert_allclose(errors, model.train_score_, rtol=1e-12)
    assert np.all(np.diff(errors) < 0)
    labels = th.HistGradientBoostingClassifier(max_iter=10).fit(X, SIGN)
    *_, last = labels.staged_predict_proba(X)
    np.testing.assert_array_equal(last, labels.predict_proba(X))
    *_, last = labels.staged_decision_function(X)
    np.testing.assert_array_equal(last > 0, labels.predict(X))


def test_boosted_stumps_add_columns_up():
    """Stumps have no interactions: f(a, b) − f(a, b′) does not depend on a."""
    model = th.GradientBoostingRegressor(max_depth=1, n_estimators=60).fit(X, Y)
    assert {int(tree.depth.max()) for tree in model._trees} == {1}
    here, there = X_TEST[:50].copy(), X_TEST[:50].copy()
    here[:, 3], there[:, 3] = 0.1, 0.9
    steps = model.predict(there) - model.predict(here)
    assert np.ptp(steps) < 1e-10
    assert steps[0] > 1.0
    deep = th.GradientBoostingRegressor(max_depth=4, n_estimators=60).fit(X, Y)
    assert mean_square(deep) < mean_square(model)


def test_warm_start_goes_on_bit_for_bit():
    whole = th.HistGradientBoostingClassifier(max_iter=20).fit(X, SIGN)
    parts = th.HistGradientBoostingClassifier(max_iter=8, warm_start=True).fit(X, SIGN)
    parts.set_params(max_iter=20).fit(X, SIGN)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    with pytest.raises(th.errors.ParameterError, match="larger or equal"):
        parts.set_params(max_iter=3).fit(X, SIGN)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_leaves_are_best_for_their_loss(loss):
    """With η = 1 and one tree, no constant added to a leaf lowers the loss."""
    model = th.GradientBoostingRegressor(loss=loss, n_estimators=1, learning_rate=1.0).fit(X, Y)
    tree = model.estimators_[0, 0].tree_
    rule = th.losses.Huber(delta=np.quantile(np.abs(Y - np.median(Y)), 0.9))
    rule = rule if loss == "huber" else model.loss_
    for leaf in np.unique(tree.apply(X)):
        own = tree.apply(X) == leaf
        z, y = model.predict(X)[own], Y[own]
        at = rule.value(y, z).mean()
        for step in (-0.05, 0.05):
            assert rule.value(y, z + step).mean() >= at - 1e-9 * (loss != "huber") - 1e-4


def test_sign_and_logistic_forms_of_the_loss_agree():
    a = th.GradientBoostingClassifier(loss="logistic", n_estimators=20).fit(X, SIGN)
    b = th.GradientBoostingClassifier(loss="sign_logistic", n_estimators=20).fit(X, SIGN)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-9)


def test_a_custom_squared_loss_is_the_squared_loss():
    own = th.loss(lambda y, z: (z - y) ** 2 / 2)
    a = th.HistGradientBoostingRegressor(loss=own, max_iter=20).fit(X, Y)
    b = th.HistGradientBoostingRegressor(max_iter=20).fit(X, Y)
    np.testing.assert_allclose(a.predict(X_TEST), b.predict(X_TEST), rtol=1e-6)


def test_monotone_columns():
    for kind, y in (
        (th.HistGradientBoostingRegressor, Y),
        (th.HistGradientBoostingClassifier, SIGN),
    ):
        for direction in (1, -1):
            cst = [0, 0, 0, direction, 0, 0, 0, 0, 0, 0]
            model = kind(monotonic_cst=cst, min_samples_leaf=5, max_iter=40).fit(X, y)
            grid = np.repeat(X[:60], 40, axis=0)
            grid[:, 3] = np.tile(np.linspace(-0.1, 1.1, 40), 60)
            answers = model._raw(grid)[:, 0].reshape(60, 40)
            assert np.all(direction * np.diff(answers, axis=1) >= -1e-12)
    model = th.HistGradientBoostingRegressor(loss="absolute_error", monotonic_cst=cst).fit(X, Y)
    assert np.all(np.diff(model.predict(grid).reshape(60, 40), axis=1) <= 1e-12)


def test_columns_meet_only_within_their_groups():
    groups = [{0, 1}, {2, 3, 4}]
    model = th.HistGradientBoostingRegressor(interaction_cst=groups, max_iter=30).fit(X, Y)
    allowed = [*groups, set(range(5, 10))]
    for tree in model._trees:
        above = [set()] * tree.node_count
        for node in np.flatnonzero(tree.feature >= 0):
            path = above[node] | {int(tree.feature[node])}
            assert any(path <= group for group in allowed)
            above[tree.left[node]] = above[tree.left[node] + 1] = path
    alone = th.HistGradientBoostingRegressor(interaction_cst="no_interactions").fit(X, Y)
    assert mean_square(model) < mean_square(alone)


def test_categories_are_divided_by_sets():
    random = np.random.default_rng(1)
    import pandas

    colour = random.choice(["red", "green", "blue", "grey", "pink"], 900)
    effect = {"red": 3.0, "green": -2.0, "blue": 3.0, "grey": -2.0, "pink": 0.5}
    y = np.array([effect[c] for c in colour]) + 0.1 * random.standard_normal(900)
    frame = pandas.DataFrame({"colour": pandas.Categorical(colour), "noise": random.random(900)})
    model = th.HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0, max_leaf_nodes=3)
    model.fit(frame, y)
    assert model.is_categorical_.tolist() == [True, False]
    assert mean_square(model, frame, y) < 0.02
    new = pandas.DataFrame({"colour": ["violet"], "noise": [0.5]})
    assert np.isfinite(model.predict(new)).all()
    many = random.integers(0, 600, 3000)
    y = (many % 7 == 0) * 5.0
    table = np.column_stack([many, random.random(3000)]).astype(float)
    wide = th.HistGradientBoostingRegressor(categorical_features=[0], min_samples_leaf=2)
    assert wide.fit(table, y).score(table, y) > 0.3


@pytest.mark.parametrize(
    ("name", "options"),
    [("GradientBoosting", {}), ("HistGradientBoosting", {"min_samples_leaf": 1})],
)
@pytest.mark.parametrize("task", ["Regressor", "Classifier"])
def test_random_levels_do_no_harm(name, options, task):
    import pandas

    random = np.random.default_rng(3)
    y, y_test = (Y, Y_TEST) if task == "Regressor" else (SIGN, np.median(Y) < Y_TEST)
    tables = [
        pandas.DataFrame(x[:, :5]).assign(
            level=pandas.Categorical(random.integers(0, 200, len(x)), range(200))
        )
        for x in (X, X_TEST)
    ]
    model = getattr(th, name + task)(**options, random_state=0)
    without = model.fit(X[:, :5], y).score(X_TEST[:, :5], y_test)
    assert model.fit(tables[0].rename(columns=str), y).score(
        tables[1].rename(columns=str), y_test
    ) > (without - 0.04)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_log_loss_of_many_classes_is_no_worse_than_that_of_scikit_learn(noise):
    """Few rows of three classes, some of them mislabelled."""
    random = np.random.default_rng(0)
    x = random.standard_normal((900, 4))
    labels = (x[:, :3] + 0.3 * random.standard_normal((900, 3))).argmax(axis=1)
    labels = np.where(random.random(900) < noise, random.integers(0, 3, 900), labels)
    losses = []
    for library in (th, peers):
        model = library.HistGradientBoostingClassifier().fit(x[:300], labels[:300])
        shares = model.predict_proba(x[300:])[np.arange(600), labels[300:]]
        losses.append(-np.log(shares).mean())
    assert losses[0] < 0.9 * losses[1]


@pytest.mark.parametrize("name", ["GradientBoosting", "HistGradientBoosting"])
def test_leaves_of_many_classes_have_the_curvature_between_classes(name):
    labels = np.repeat([0, 1, 2, 0, 1, 2], [60, 30, 10, 20, 40, 40])
    x = np.repeat([0.0, 1.0], 100)[:, None]
    rounds = {"n_estimators": 1} if name == "GradientBoosting" else {"max_iter": 1}
    model = getattr(th, name + "Classifier")(learning_rate=1.0, **rounds).fit(x, labels)
    share = np.bincount(labels) / 200
    counts = np.array([np.bincount(labels[:100]), np.bincount(labels[100:])])
    curvature = 100 * share * (1 - share) * 3 / 2
    if name == "HistGradientBoosting":
        curvature += 1 / 3  # of one row with equal class probabilities
    steps = (counts - 100 * share) / curvature
    raw = np.log(share) + steps
    shares = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), shares, rtol=1e-6)
    if name == "GradientBoosting":  # Friedman's factor (K − 1)/K is the same
        peer = peers.GradientBoostingClassifier(learning_rate=1.0, n_estimators=1).fit(x, labels)
        np.testing.assert_allclose(peer.predict_proba([[0.0], [1.0]]), shares, rtol=1e-6)


def test_probabilities_of_three_classes_are_less_overconfident():
    random = np.random.default_rng(4)
    x = random.standard_normal((1500, 5))
    labels = (1.5 * x[:, :3] + random.gumbel(size=(1500, 3))).argmax(axis=1)
    train, test = slice(None, 700), slice(700, None)
    ours = th.HistGradientBoostingClassifier().fit(x[train], labels[train])
    peer = peers.HistGradientBoostingClassifier().fit(x[train], labels[train])
    loss = log_loss(labels[test], ours.predict_proba(x[test]))
    assert loss < 0.95 * log_loss(labels[test], peer.predict_proba(x[test]))


def test_missing_values_go_to_the_better_side():
    random = np.random.default_rng(2)
    x = random.random((400, 1))
    x[::4] = np.nan
    y = np.where(np.isnan(x[:, 0]), 10.0, np.where(x[:, 0] > 0.5, 10.0, 0.0))
    model = th.HistGradientBoostingRegressor(max_iter=60).fit(x, y)
    np.testing.assert_allclose(model.predict([[np.nan], [0.9], [0.1]]), [10, 10, 0], atol=0.1)
    never = th.HistGradientBoostingRegressor().fit(np.nan_to_num(x), y)
    assert np.isfinite(never.predict([[np.nan]])).all()


# Peers as oracles


@pytest.mark.parametrize("name", ["HistGradientBoosting", "GradientBoosting"])
def test_real_data_are_fitted_as_well_as_by_the_peer(name):
    differences = []
    short = {"max_iter": 50} if name.startswith("Hist") else {"n_estimators": 50}
    for load, face in (
        (load_breast_cancer, "Classifier"),
        (load_wine, "Classifier"),
        (load_diabetes, "Regressor"),
    ):
        x, y = load(return_X_y=True)
        for seed in range(2):
            a, b, ya, yb = train_test_split(x, y, test_size=0.4, random_state=seed)
            scores = [
                getattr(library, name + face)(random_state=0, **short).fit(a, ya).score(b, yb)
                for library in (th, peers)
            ]
            differences.append(scores[0] - scores[1])
    spread = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert np.mean(differences) > -2.3 * spread - 1e-3
    assert min(differences) > -0.1  # a large spread must not excuse one bad fit


def test_stochastic_rounds_report_what_they_left_out():
    model = th.GradientBoostingRegressor(subsample=0.5, n_estimators=40, random_state=0)
    model.fit(X, Y)
    assert model.oob_improvement_.shape == (40,)
    assert model.oob_improvement_[:10].min() > 0
    again = th.GradientBoostingRegressor(subsample=0.5, n_estimators=40, random_state=0)
    np.testing.assert_array_equal(again.fit(X, Y).predict(X), model.predict(X))


def test_a_model_may_come_first():
    first = th.Ridge()
    model = th.GradientBoostingRegressor(init=first, n_estimators=20).fit(X, Y)
    assert mean_square(model) < mean_square(model.init_)
    labels = th.GradientBoostingClassifier(init=th.LogisticRegression(), n_estimators=5)
    assert labels.fit(X, SIGN).score(X, SIGN) > 0.8
    zero = th.GradientBoostingRegressor(init="zero", n_estimators=1, learning_rate=1.0).fit(X, Y)
    assert abs(zero.predict(X).mean() - Y.mean()) < 1e-9


def test_early_stopping_judges_rows_that_nothing_was_learned_from():
    model = th.HistGradientBoostingClassifier(
        early_stopping=True, random_state=0, max_iter=500, learning_rate=0.5
    )
    model.fit(X, SIGN)
    assert 10 <= model.n_iter_ < 500
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    # The bins know nothing of the held-out rows: each has its own value in the last column.
    marked = np.column_stack([X[:150], np.arange(150.0)])
    model.fit(marked, SIGN[:150])
    assert model._bins.n_bins[-1] == 135
    by_score = th.HistGradientBoostingClassifier(
        early_stopping=True, scoring="accuracy", random_state=0, n_iter_no_change=3
    )
    scores = by_score.fit(X, SIGN).validation_score_
    assert 0.5 < scores[-1] <= 1.0


def test_time_is_kept_and_the_rounds_so_far_stay():
    with th.config(max_time=1e-6), pytest.warns(ConvergenceWarning, match="of 100 iterations"):
        model = th.GradientBoostingRegressor().fit(X, Y)
    assert model.n_estimators_ == 1
    np.testing.assert_array_equal(
        model.predict(X), next(th.GradientBoostingRegressor().fit(X, Y).staged_predict(X))
    )


def test_an_interrupted_fit_keeps_its_rounds(monkeypatch):
    from thetahat.models.ensemble.gradient_boosting import tree_rounds

    grow, calls = tree_rounds.grow_tree, []

    def stubborn(*arguments, **options):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return grow(*arguments, **options)

    monkeypatch.setattr(tree_rounds, "grow_tree", stubborn)
    model = th.HistGradientBoostingRegressor()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_iter_ == 5
    assert np.isfinite(model.predict(X)).all()


# Losses with nothing to bend


@pytest.mark.parametrize(
    "loss",
    [
        th.losses.Tukey(scale=8.0),
        th.losses.Cauchy(),
        th.losses.EpsilonInsensitive(epsilon=0.5),
        th.loss(lambda y, z: np.abs(z - y), name="own absolute"),
        th.loss(lambda y, z: 1 - np.exp(-((z - y) ** 2) / 50), name="negative curvature"),
    ],
    ids=lambda loss: loss.name,
)
def test_losses_without_positive_curvature(loss):
    model = th.HistGradientBoostingRegressor(loss=loss, max_iter=40).fit(X, Y)
    start = loss.value(Y, np.full(len(Y), float(model._start[0]))).mean()
    assert loss.value(Y, model._raw(X)[:, 0]).mean() < 0.5 * start
    assert mean_square(model) < 0.5 * np.var(Y_TEST)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber", "exponential"])
def test_losses_of_margins(loss):
    model = th.GradientBoostingClassifier(loss=loss).fit(X, SIGN)
    assert model.score(X_TEST, Y_TEST > np.median(Y)) > (0.75 if loss == "hinge" else 0.85)
    assert hasattr(model, "predict_proba") == (loss == "exponential")


def test_scores_of_classes_by_a_hinge():
    x, y = load_wine(return_X_y=True)
    model = th.GradientBoostingClassifier(loss="multiclass_hinge", n_estimators=30).fit(x, y)
    assert model.score(x, y) > 0.98
