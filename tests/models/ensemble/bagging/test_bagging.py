"""Bagging: draws, averages and trees; against scikit-learn and against itself."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from tests.models.ensemble.bagging.bagging_data import LABELS, N, OnlyVotes, X, Y, bag, class_bag

# The mean of members, each fitted to its own draw.


@pytest.mark.parametrize("learner", [th.LinearRegression(), KNeighborsRegressor()], ids=str)
def test_members_are_fits_to_their_draws(learner):
    """With weights where the learner takes them, by rows where it does not: the same rows."""
    model = bag(estimator=learner, max_features=3).fit(X, Y)
    drawn = zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    )
    total = np.zeros(N)
    for member, rows, columns in drawn:
        assert len(rows) == N
        assert len(np.unique(rows)) < N
        alone = clone(learner).fit(X[rows][:, columns], Y[rows])
        np.testing.assert_allclose(
            member.predict(X[:, columns]), alone.predict(X[:, columns]), rtol=1e-9
        )
        total += member.predict(X[:, columns])
    np.testing.assert_allclose(model.predict(X), total / 10, rtol=1e-12)


def test_probabilities_are_the_mean_of_the_members():
    model = class_bag().fit(X, LABELS)
    each = [member.predict_proba(X) for member in model.estimators_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[np.mean(each, axis=0).argmax(axis=1)]
    )
    scores = [member.decision_function(X) for member in model.estimators_]
    np.testing.assert_allclose(model.decision_function(X), np.mean(scores, axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert model.n_classes_ == 3
    assert list(model) == model.estimators_
    assert model[0] is model.estimators_[0]
    assert len(model) == 10


def test_members_without_probabilities_vote():
    model = class_bag(estimator=OnlyVotes(), n_estimators=30, oob_score=True).fit(X, LABELS)
    votes = np.array([member.predict(X) for member in model.estimators_])
    shares = np.stack([(votes == code).mean(axis=0) for code in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)
    assert model.score(X, LABELS) > 0.65
    assert not hasattr(model, "decision_function")


def test_error_as_scikit_learn():
    """The same learner bagged by both, on rows kept back: no difference beyond chance."""
    random = np.random.default_rng(1)
    more = np.random.default_rng(1).standard_normal((2000, 4))
    truth = np.sin(2 * more[:, 0]) + more[:, 1]
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.standard_normal(N)
    ours, theirs = (
        kind(KNeighborsRegressor(2), 50, random_state=0).fit(X, y)
        for kind in (th.BaggingRegressor, peers.BaggingRegressor)
    )
    errors = [np.mean((model.predict(more) - truth) ** 2) for model in (ours, theirs)]
    alone = np.mean((KNeighborsRegressor(2).fit(X, y).predict(more) - truth) ** 2)
    assert errors[0] < 1.05 * errors[1] < alone


def test_variance_shrinks_with_members():
    """var f̄ = ρσ² + (1 − ρ)σ²/M: over training sets, more members vary less."""

    def variance(members):
        found = []
        for seed in range(20):
            random = np.random.default_rng(seed)
            x = random.uniform(-1, 1, (40, 1))
            y = np.sin(3 * x[:, 0]) + 0.5 * random.standard_normal(40)
            model = bag(estimator=th.DecisionTreeRegressor(), n_estimators=members)
            found.append(model.fit(x, y).predict(np.linspace(-1, 1, 20)[:, None]))
        return np.var(found, axis=0).mean()

    one, ten, fifty = (variance(members) for members in (1, 10, 50))
    assert one > 1.5 * ten > 1.4 * fifty


# Trees, the default learner: columns are sorted once for all, and all walked at once.


@pytest.mark.parametrize(
    "learner",
    [
        th.DecisionTreeRegressor(),
        th.DecisionTreeRegressor(max_features=2, max_depth=4),
        th.ExtraTreeRegressor(),
        th.DecisionTreeRegressor(oblique=3),
    ],
    ids=["exact", "few columns", "random", "oblique"],
)
def test_trees_on_shared_columns_are_trees_alone(learner):
    model = bag(estimator=learner).fit(X, Y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        weight = np.bincount(rows, minlength=N).astype(float)
        alone = clone(member).fit(X, Y, sample_weight=weight)
        np.testing.assert_array_equal(member.tree_.threshold, alone.tree_.threshold)
        np.testing.assert_array_equal(member.predict(X), alone.predict(X))
    each = [member.predict(X) for member in model.estimators_]
    np.testing.assert_array_equal(model.predict(X), np.sum(each, axis=0) / 10)
    np.testing.assert_allclose(model.predict(X, return_std=True)[0], model.predict(X))
    single = model.predict(X.astype(np.float32))
    assert single.dtype == np.float32


def test_trees_are_the_default():
    model = th.BaggingClassifier(n_estimators=20, oob_score=True, random_state=0).fit(X, LABELS)
    assert type(model.estimator_) is th.DecisionTreeClassifier
    each = [member.predict_proba(X) for member in model.estimators_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), rtol=1e-12)
    theirs = peers.BaggingClassifier(n_estimators=20, oob_score=True, random_state=0)
    assert abs(model.oob_score_ - theirs.fit(X, LABELS).oob_score_) < 0.06
    several = th.BaggingRegressor(random_state=0).fit(X, np.column_stack([Y, 2 * Y]))
    np.testing.assert_allclose(several.predict(X)[:, 1], 2 * several.predict(X)[:, 0])


@pytest.mark.parametrize("options", [{}, {"max_samples": 0.5}, {"bootstrap": False}], ids=str)
def test_trees_do_not_prefer_the_first_columns(options):
    """Four equal columns often give equal splits; each member breaks ties by its seed."""
    twins = np.column_stack([X[:, 0]] * 4)
    model = bag(estimator=th.DecisionTreeRegressor(), **options).fit(twins, Y)
    shares = np.mean([member.feature_importances_ for member in model.estimators_], axis=0)
    np.testing.assert_allclose(shares, 0.25, atol=0.2)
    used = [member.tree_.feature for member in model.estimators_]
    counts = np.bincount(np.concatenate(used)[np.concatenate(used) >= 0])
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.05)
    assert len({tuple(features[:3]) for features in used}) > 1


def test_trees_take_categories_and_missing_values():
    import pandas

    frame = pandas.DataFrame(np.where(X > 1.5, np.nan, X), columns=list("abcd"))
    frame["kind"] = pandas.Categorical(np.where(Y > 0, "u", np.where(Y > -1, "v", "w")))
    model = th.BaggingRegressor(n_estimators=20, oob_score=True, random_state=0).fit(frame, Y)
    assert model.oob_score_ > 0.75
    with_nan = th.BaggingRegressor(n_estimators=5, random_state=0).fit(frame[list("abcd")], Y)
    assert np.isfinite(with_nan.predict(frame[list("abcd")])).all()
    balanced = class_bag(estimator=th.DecisionTreeClassifier(class_weight="balanced"))
    assert balanced.fit(frame, LABELS).score(frame, LABELS) > 0.9


def test_trees_take_a_draw_of_one_class():
    y = np.r_[["rare"], ["common"] * 59]
    model = th.BaggingClassifier(n_estimators=20, random_state=0).fit(X[:60], y)
    assert model.predict_proba(X).shape == (N, 2)
    parts = th.BaggingClassifier(n_estimators=20, max_features=0.5, random_state=0).fit(X[:60], y)
    np.testing.assert_allclose(parts.predict_proba(X).sum(axis=1), 1.0)


# What is drawn.


def test_same_seed_same_draws_and_more_members_go_on():
    first = bag().fit(X, Y)
    np.testing.assert_array_equal(first.predict(X), bag().fit(X, Y).predict(X))
    assert (first.predict(X) != bag(random_state=1).fit(X, Y).predict(X)).any()
    warm = bag(n_estimators=4, warm_start=True).fit(X, Y)
    before = list(warm.estimators_)
    warm.set_params(n_estimators=10).fit(X, Y)
    assert warm.estimators_[:4] == before
    np.testing.assert_array_equal(warm.predict(X), first.predict(X))
    np.testing.assert_array_equal(warm.estimators_samples_, first.estimators_samples_)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        warm.fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="larger or equal"):
        warm.set_params(n_estimators=3).fit(X, Y)
    mixed = bag(n_estimators=4, warm_start=True, estimator=th.DecisionTreeRegressor())
    mixed.set_params(max_features=0.5).fit(X, Y).set_params(max_features=1.0, n_estimators=6)
    each = [
        member.predict(X[:, columns])
        for member, columns in zip(
            mixed.fit(X, Y).estimators_, mixed.estimators_features_, strict=True
        )
    ]
    np.testing.assert_allclose(mixed.predict(X), np.mean(each, axis=0))


def test_draws_of_rows_and_columns():
    model = bag(max_samples=0.5, max_features=0.5, bootstrap=False).fit(X, Y)
    for rows, columns in zip(model.estimators_samples_, model.estimators_features_, strict=True):
        assert len(rows) == len(set(rows)) == N // 2
        assert len(columns) == len(set(columns)) == 2
    again = bag(max_features=4, bootstrap_features=True).fit(X, Y)
    assert any(len(set(columns)) < 4 for columns in again.estimators_features_)
    assert np.isfinite(again.predict(X)).all()


def test_members_have_their_own_seeds():
    model = bag(estimator=th.SGDRegressor(), n_estimators=3).fit(X, Y)
    seeds = [member.random_state for member in model.estimators_]
    assert len(set(seeds)) == 3
    nested = bag(estimator=make_pipeline(StandardScaler(), th.SGDRegressor()), n_estimators=3)
    inner = [member[-1].random_state for member in nested.fit(X, Y).estimators_]
    assert len(set(inner)) == 3


def test_weights_are_chances():
    weight = np.where(np.arange(N) < 50, 0.0, 1.0)
    weight[60] = 100.0
    model = bag().fit(X, Y, sample_weight=weight)
    rows = np.concatenate(model.estimators_samples_)
    assert rows.min() >= 50
    np.testing.assert_allclose(np.mean(rows == 60), 100 / weight.sum(), atol=0.03)
    parts = bag(max_samples=1.0).fit(X, Y, sample_weight=weight)
    assert len(parts.estimators_samples_[0]) == int(weight.sum())
    with pytest.warns(UserWarning, match="recommended to use bootstrap=True"):
        bag(bootstrap=False, max_samples=10).fit(X, Y, sample_weight=weight)
