"""Bagging: draws, averages, spreads, rows left out; against scikit-learn and against itself."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.inspection import partial_dependence
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 300
X = RANDOM.standard_normal((N, 4))
Y = X @ [1.0, 2.0, 0.0, -1.0] + RANDOM.standard_normal(N)
LABELS = np.array(["low", "mid", "high"])[np.searchsorted([-1.0, 1.0], Y)]


def bag(**options):
    defaults = {"estimator": th.LinearRegression(), "n_estimators": 10, "random_state": 0}
    return th.BaggingRegressor(**(defaults | options))


def class_bag(**options):
    defaults = {"estimator": th.LogisticRegression(), "n_estimators": 10, "random_state": 0}
    return th.BaggingClassifier(**(defaults | options))


class OnlyVotes(ClassifierMixin, BaseEstimator):
    """A user's classifier without probabilities or weights: the nearest class mean."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        far = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[far.argmin(axis=1)]


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


# How sure: the spread of members, and the rows that they left out.


def test_spread_of_members_is_the_bootstraps_standard_error():
    model = bag(n_estimators=400).fit(X, Y)
    mean, spread = model.predict(X[:20], return_std=True)
    each = np.array([member.predict(X[:20]) for member in model.estimators_])
    np.testing.assert_allclose(spread, each.std(axis=0, ddof=1))
    np.testing.assert_array_equal(mean, model.predict(X[:20]))
    classic = th.LinearRegression().fit(X, Y)
    low, high = classic.predict_interval(X[:20], level=0.95, kind="confidence")
    np.testing.assert_allclose(4 * spread, high - low, rtol=0.25)
    below, above = model.predict_interval(X[:20])
    np.testing.assert_allclose(above - below, high - low, rtol=0.25)
    _, of_classes = class_bag().fit(X, LABELS).predict_proba(X[:5], return_std=True)
    assert of_classes.shape == (5, 3)
    assert (of_classes > 0).all()


def test_rows_left_out_judge_the_bag():
    model = bag(n_estimators=100, oob_score=True).fit(X, Y)
    total, count = np.zeros(N), np.zeros(N)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        rest = np.setdiff1d(np.arange(N), rows)
        total[rest] += member.predict(X[rest])
        count[rest] += 1
    np.testing.assert_allclose(model.oob_prediction_, total / count)
    error, low, high = model.oob_error()
    np.testing.assert_allclose(error, np.mean((Y - total / count) ** 2))
    assert low < 1.0 < high  # the noise has variance 1
    assert model.oob_error(0.5).high < high
    np.testing.assert_allclose(model.oob_score_, 1 - error / np.var(Y))
    new = np.random.default_rng(5).standard_normal((4000, 4))
    y = new @ [1.0, 2.0, 0.0, -1.0] + np.random.default_rng(6).standard_normal(4000)
    below, above = model.predict_interval(new, level=0.9, kind="prediction")
    assert abs(np.mean((below <= y) & (y <= above)) - 0.9) < 0.04


def test_error_rate_of_rows_left_out():
    model = class_bag(n_estimators=60, oob_score=True).fit(X, LABELS)
    theirs = peers.BaggingClassifier(
        th.LogisticRegression(), 60, oob_score=True, random_state=0
    ).fit(X, LABELS)
    assert abs(model.oob_score_ - theirs.oob_score_) < 0.03
    np.testing.assert_allclose(model.oob_decision_function_.sum(axis=1), 1.0)
    error, low, high = model.oob_error()
    from scipy.stats import binomtest

    wrong = round(error * N)
    wilson = binomtest(wrong, N).proportion_ci(method="wilson")
    np.testing.assert_allclose((low, high), (wilson.low, wilson.high))
    np.testing.assert_allclose(error, 1 - model.oob_score_)


def test_rows_of_weight_zero_are_not_judged():
    weight = np.r_[np.zeros(20), np.ones(N - 20)]
    wild = np.r_[np.full(20, 1e6), Y[20:]]
    model = bag(n_estimators=50, oob_score=True).fit(X, wild, sample_weight=weight)
    assert model.oob_error().error < 2.0


@pytest.mark.parametrize("kind", [th.BaggingRegressor, th.BaggingClassifier])
def test_the_out_of_bag_score_counts_all_rows_alike(kind):
    weight = np.random.default_rng(0).uniform(0.1, 5.0, N)
    y = Y if kind is th.BaggingRegressor else LABELS
    model = kind(n_estimators=60, oob_score=True, random_state=0).fit(X, y, weight)
    if kind is th.BaggingRegressor:
        expected = r2_score(y, model.oob_prediction_)
    else:
        expected = np.mean(model.classes_[model.oob_decision_function_.argmax(axis=1)] == y)
    np.testing.assert_allclose(model.oob_score_, expected)


def test_few_members_leave_rows_unjudged():
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        model = bag(n_estimators=2, oob_score=True).fit(X, Y)
    missing = np.isnan(model.oob_prediction_)
    assert missing.any()
    assert np.isfinite(model.oob_score_)


# Kinds of input, and what learners may be.


def test_pipelines_on_tables_with_text():
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    frame = pandas.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "u", "v"))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = bag(estimator=make_pipeline(columns, th.LinearRegression())).fit(frame, Y)
    assert model.score(frame, Y) > 0.7
    assert list(model.feature_names_in_) == [*"abcd", "kind"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_columns_of_tables_are_drawn():
    import pandas
    import polars
    import pyarrow

    frame = pandas.DataFrame(X, columns=list("abcd"))
    expected = bag(max_features=2).fit(X, Y).predict(X)
    for table in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        model = bag(max_features=2).fit(table, Y)
        np.testing.assert_allclose(model.predict(table), expected, rtol=1e-9)
        rows = bag(max_features=2, estimator=KNeighborsRegressor())
        assert rows.fit(X, Y).score(X, Y) > 0.5


def test_several_targets():
    both = np.column_stack([Y, -Y])
    model = bag(oob_score=True, n_estimators=40).fit(X, both)
    np.testing.assert_allclose(model.predict(X)[:, 0], -model.predict(X)[:, 1], atol=1e-9)
    assert model.oob_prediction_.shape == both.shape
    assert model.oob_error().low > 0


def test_nested_parameters():
    model = bag(estimator=th.Ridge())
    model.set_params(estimator__alpha=3.0)
    assert model.get_params()["estimator__alpha"] == 3.0
    assert model.fit(X, Y).estimators_[0].alpha == 3.0


def test_partial_dependence_sees_the_bag():
    model = bag().fit(X, Y)
    found = partial_dependence(model, X, features=[1], grid_resolution=5)
    slope = np.diff(found["average"][0]) / np.diff(found["grid_values"][0])
    np.testing.assert_allclose(slope, 2.0, atol=0.2)


def test_metadata_reaches_members():
    from sklearn import config_context

    class Noted(th.Ridge):
        def fit(self, X, y=None, sample_weight=None, *, note=None):
            self.note_ = note
            return super().fit(X, y, sample_weight)

    with config_context(enable_metadata_routing=True):
        learner = Noted().set_fit_request(sample_weight=True, note=True)
        model = bag(estimator=learner).fit(X, Y, note=np.arange(N))
    assert all(len(member.note_) == N for member in model.estimators_)
    with pytest.raises(th.errors.ParameterError, match="enable_metadata_routing"):
        bag().fit(X, Y, note=1)


# Bad input.


def test_one_class_in_a_draw():
    """Logistic regression cannot learn one class, and the message says that the draw is why."""
    y = np.r_[["rare"], ["common"] * 59]
    with pytest.raises(th.errors.DataError, match=r"one class only, 'common'.*max_samples"):
        class_bag().fit(X[:60], y)
    model = class_bag(estimator=OnlyVotes()).fit(X[:60], y)
    assert model.predict_proba(X[:5]).shape == (5, 2)


def test_a_class_that_a_draw_misses():
    """Members that never met a class give it probability 0; nothing breaks."""
    y = np.r_[["rare"] * 2, LABELS[2:]]
    model = class_bag(n_estimators=30).fit(X, y)
    assert {len(member.classes_) for member in model.estimators_} == {3, 4}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number from 1 to"),
        ({"max_samples": 1.5}, "max_samples=1.5 must be"),
        ({"max_features": 5}, "max_features=5 must be <= n_features, which is 4"),
        ({"max_samples": 1000, "bootstrap": False}, "1000 rows without replacement"),
        ({"oob_score": True, "bootstrap": False}, "only available if bootstrap=True"),
        ({"oob_score": True, "warm_start": True}, "only available if warm_start=False"),
        ({"estimator": "tree"}, "estimator='tree' must be an estimator with fit and predict"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        bag(**options).fit(X, Y)


def test_bad_targets_and_questions():
    spoilt = Y.copy()
    spoilt[7] = np.nan
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN.*row 7"):
        bag().fit(X, spoilt)
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN \(first at row 7\)"):
        class_bag().fit(X, spoilt)
    with pytest.raises(th.errors.DataError, match="requires y"):
        bag().fit(X)
    model = bag().fit(X, Y)
    with pytest.raises(th.errors.CapabilityError, match="oob_score=True"):
        model.oob_error()
    with pytest.raises(th.errors.ParameterError, match="level=2"):
        model.predict_interval(X, level=2)
    with pytest.raises(th.errors.ParameterError, match="kind='tolerance'"):
        model.predict_interval(X, kind="tolerance")
    with pytest.warns(UserWarning, match="few to learn from"):
        class_bag(max_samples=0.01, estimator=KNeighborsClassifier()).fit(X, LABELS)
