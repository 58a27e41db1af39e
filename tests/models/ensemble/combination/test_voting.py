"""Voting: means and votes of different models, against scikit-learn's and by their definition."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.base import clone
from sklearn.inspection import partial_dependence
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 150
X = RANDOM.standard_normal((N, 3))
Y = X @ [1.0, 2.0, -1.0] + RANDOM.standard_normal(N)
LABELS = np.array(["low", "mid", "high"])[np.searchsorted([-1.0, 1.0], Y)]

REGRESSORS = [
    ("plain", th.LinearRegression()),
    ("shrunk", th.Ridge(alpha=30.0)),
    ("near", KNeighborsRegressor()),
]
CLASSIFIERS = [
    ("logistic", th.LogisticRegression()),
    ("strict", th.LogisticRegression(C=0.01)),
    ("near", KNeighborsClassifier()),
]


@pytest.mark.parametrize("weights", [None, [3, 1, 0.5]], ids=["alike", "weighted"])
def test_regressors_as_scikit_learn(weights):
    ours, theirs = (
        kind(REGRESSORS, weights=weights).fit(X, Y)
        for kind in (th.VotingRegressor, peers.VotingRegressor)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.named_estimators_.near is ours.estimators_[2]
    assert ours.named_estimators["plain"] is REGRESSORS[0][1]
    assert ours.n_features_in_ == 3


@pytest.mark.parametrize("weights", [None, [3, 1, 0.5]], ids=["alike", "weighted"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_classifiers_as_scikit_learn(voting, weights):
    ours, theirs = (
        kind(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABELS)
        for kind in (th.VotingClassifier, peers.VotingClassifier)
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.le_.classes_, theirs.le_.classes_)
    assert hasattr(ours, "predict_proba") == (voting == "soft")
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
        ours.flatten_transform = theirs.flatten_transform = False
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
        with pytest.raises(th.errors.ParameterError, match="flatten_transform=False"):
            ours.get_feature_names_out()


def test_ties_go_to_the_first_class():
    y = np.where(X[:, 0] > 0, "b", "a")
    members = [("this", th.LogisticRegression()), ("that", KNeighborsClassifier(1))]
    model = th.VotingClassifier(members).fit(X, y)
    each = model.transform(X + 0.3)
    split = each[:, 0] != each[:, 1]
    assert split.any()
    assert (model.predict(X + 0.3)[split] == "a").all()


def test_dropped_members_do_not_count():
    model = th.VotingRegressor(REGRESSORS, weights=[1, 5, 1]).set_params(near="drop").fit(X, Y)
    assert len(model.estimators_) == 2
    assert model.named_estimators_.near == "drop"
    assert model.transform(X).shape == (N, 2)
    plain, shrunk = (clone(member).fit(X, Y).predict(X) for _, member in REGRESSORS[:2])
    np.testing.assert_allclose(model.predict(X), (plain + 5 * shrunk) / 6)


def test_members_and_their_parameters_are_searched():
    model = th.VotingRegressor([*REGRESSORS[:2]])
    grid = {"shrunk__alpha": [0.1, 1e4], "plain": [th.LinearRegression(), "drop"]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_params_["shrunk__alpha"] == 0.1
    model.set_params(shrunk__alpha=7.0, plain=th.Ridge(alpha=2.0))
    assert model.get_params()["shrunk__alpha"] == 7.0
    assert model.get_params()["plain__alpha"] == 2.0
    assert [name for name, _ in model.estimators] == ["plain", "shrunk"]
    with pytest.raises(ValueError, match="nobody"):
        model.set_params(nobody__alpha=1.0)


def test_rows_reach_members_untouched():
    """A table with text, read by pipelines that look columns up by name."""
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    frame = pandas.DataFrame(X, columns=list("abc")).assign(kind=np.where(X[:, 0] > 0, "u", "v"))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), ("passthrough", ["b", "c"]))
    members = [
        ("one", make_pipeline(columns, th.LinearRegression())),
        ("two", make_pipeline(columns, th.Ridge())),
    ]
    model = th.VotingRegressor(members).fit(frame, Y)
    assert model.score(frame, Y) > 0.7
    assert list(model.feature_names_in_) == [*"abc", "kind"]
    texts = ["good good", "bad", "good bad good", "bad bad bad"] * 10
    from sklearn.feature_extraction.text import CountVectorizer

    words = make_pipeline(CountVectorizer(), th.LogisticRegression())
    votes = th.VotingClassifier([("words", words)]).fit(texts, ["+", "-", "+", "-"] * 10)
    assert list(votes.predict(["good", "bad"])) == ["+", "-"]


def test_weights_are_repetitions():
    random = np.random.default_rng(1)
    weight = random.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    weighted = th.VotingRegressor(REGRESSORS[:2]).fit(X, Y, sample_weight=weight)
    repeated = th.VotingRegressor(REGRESSORS[:2]).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)
    with pytest.raises(TypeError, match="'near', a KNeighborsRegressor, does not support"):
        th.VotingRegressor(REGRESSORS).fit(X, Y, sample_weight=weight)


def test_metadata_is_routed():
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        plain = th.LinearRegression().set_fit_request(sample_weight=True)
        shrunk = th.Ridge().set_fit_request(sample_weight=False)
        model = th.VotingRegressor([("plain", plain), ("shrunk", shrunk)])
        weight = np.r_[np.ones(50), np.zeros(N - 50)]
        model.fit(X, Y, sample_weight=weight)
    alone = th.LinearRegression().fit(X[:50], Y[:50])
    np.testing.assert_allclose(model.named_estimators_.plain.coef_, alone.coef_)
    np.testing.assert_allclose(model.named_estimators_.shrunk.coef_, th.Ridge().fit(X, Y).coef_)


def test_partial_dependence_sees_the_vote():
    model = th.VotingClassifier(CLASSIFIERS, voting="soft").fit(X, LABELS)
    found = partial_dependence(model, X, features=[1], grid_resolution=5)
    assert found["average"].shape == (3, 5)
    np.testing.assert_allclose(found["average"].sum(axis=0), 1.0)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "non-empty list of .string, estimator. tuples"),
        (th.Ridge(), "non-empty list"),
        ([("a", th.Ridge()), ("a", th.Ridge())], "not unique: 'a'.*Use each name once"),
        ([("a__b", th.Ridge())], "must not contain __: got .'a__b'"),
        ([("weights", th.Ridge())], "conflict with constructor arguments: .'weights'"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", th.LogisticRegression())], "LogisticRegression .'a'. should be a regressor"),
        ([("a", th.Ridge)], "'a' is <class .* not an estimator"),
    ],
)
def test_bad_members(members, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.VotingRegressor(members).fit(X, Y)


def test_bad_weights_and_targets():
    with pytest.raises(th.errors.ParameterError, match="got 2 weights, 3 estimators"):
        th.VotingRegressor(REGRESSORS, weights=[1, 2]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"weights\[1\]=-2, that of 'shrunk'"):
        th.VotingRegressor(REGRESSORS, weights=[1, -2, 1]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="all members in use are 0"):
        th.VotingRegressor(REGRESSORS, weights=[0, 0, 0]).fit(X, Y)
    spoilt = np.where(np.arange(N) == 3, np.nan, Y)
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN.*row 3"):
        th.VotingRegressor(REGRESSORS).fit(X, spoilt)
    with pytest.raises(th.errors.DataError, match="y has 149"):
        th.VotingClassifier(CLASSIFIERS).fit(X, LABELS[1:])
    with pytest.raises(AttributeError) as refusal:
        th.VotingClassifier(CLASSIFIERS).fit(X, LABELS).predict_proba(X)
    assert 'voting="soft"' in str(refusal.value.__cause__)
    with pytest.raises(th.errors.DataError, match="column 1") as failure:
        th.VotingRegressor(REGRESSORS).fit(np.where([0, 1, 0], np.nan, X), Y)
    assert "(while fitting 'plain')" in failure.value.__notes__


@pytest.mark.parametrize("error", [NotImplementedError, ValueError, th.errors.DataError])
def test_several_label_columns_are_refused_as_in_scikit_learn(error):
    model = th.VotingClassifier([("a", th.LogisticRegression())])
    with pytest.raises(error, match=r"only supports binary.*shape \(4, 2\)"):
        model.fit(np.arange(4.0)[:, None], [[0, 1], [1, 0], [1, 1], [0, 0]])
