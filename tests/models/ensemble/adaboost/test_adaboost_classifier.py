"""AdaBoost for classes: its identities, its forms, scikit-learn's as oracle, bad input."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

import thetahat as th
from tests.reference.trees.stump import PlainStump

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 4))
RADIUS = (X**2).sum(axis=1)
TWO = np.where(RADIUS > 3, "out", "in")
THREE = np.searchsorted([2.0, 5.0], RADIUS)
FORMS = ("discrete", "real", "adaptive_beta", "fixed_beta")


FEW = 100


def boosted(y=TWO, rounds=12, **options):
    """A model of the rows that have a label in y."""
    return th.AdaBoostClassifier(n_estimators=rounds, **options).fit(X[: len(y)], y)


class Script:
    """Lines that are taken one by one, by whichever clone comes next."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def __deepcopy__(self, memo):
        return self


class Scripted(ClassifierMixin, BaseEstimator):
    """Errs on the rows that its line names; a row is known by its first column."""

    def __init__(self, script):
        self.script = script

    def fit(self, X, y, sample_weight=None):
        line = self.script.lines.pop(0)
        if line is KeyboardInterrupt:
            raise KeyboardInterrupt
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.answers_ = self.classes_[np.where(np.isin(np.arange(len(y)), line), 1 - codes, codes)]
        return self

    def predict(self, X):
        return self.answers_[X[:, 0].astype(int)]


def test_worked_numbers():
    """An error of .3 is worth a vote of .847298, and a learner is a coin for its successor."""
    x = np.arange(10.0)[:, None]
    model = th.AdaBoostClassifier(n_estimators=3).fit(x, [0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
    assert model.estimator_errors_[0] == pytest.approx(0.3)
    assert model.estimator_weights_[0] == pytest.approx(0.847298, abs=5e-7)
    assert model.score(x, [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]) == 1.0


@pytest.mark.parametrize("algorithm", ["discrete", "adaptive_beta"])
def test_a_learner_errs_on_half_of_the_next_weights(algorithm):
    model = boosted(algorithm=algorithm)
    weights = list(model.staged_sample_weight(X, TWO))
    for learner, weight in zip(model.estimators_, weights[1:], strict=False):
        assert np.average(learner.predict(X) != TWO, weights=weight) == pytest.approx(0.5)
        assert weight.sum() == pytest.approx(len(X))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_as_scikit_learn(y, learning_rate):
    ours = boosted(y, learning_rate=learning_rate)
    peer = Peer(n_estimators=12, learning_rate=learning_rate, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, peer.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, atol=1e-9)
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        np.testing.assert_allclose(
            getattr(ours, method)(X), getattr(peer, method)(X), rtol=1e-9, atol=1e-9
        )
    assert (ours.predict(X) == peer.predict(X)).all()
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(peer.staged_score(X, y)))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("algorithm", FORMS)
def test_any_learner_in_place_of_our_stump(algorithm, y):
    """A stump written elsewhere gives the same model, though it takes the long way."""
    x, y = X[:FEW], y[:FEW]
    ours = boosted(y, algorithm=algorithm)
    plain = boosted(y, estimator=PlainStump(), algorithm=algorithm)
    np.testing.assert_allclose(ours.estimator_weights_, plain.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(
        ours.decision_function(x), plain.decision_function(x), rtol=1e-9, atol=1e-9
    )
    for mine, other in zip(
        ours.staged_predict_proba(x), plain.staged_predict_proba(x), strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-9)
    for mine, other in zip(
        ours.staged_sample_weight(x, y), plain.staged_sample_weight(x, y), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("algorithm", FORMS)
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_training_error_stays_under_its_bound(algorithm, learning_rate):
    if algorithm == "fixed_beta":
        learning_rate = 1.0
    model = boosted(rounds=40, algorithm=algorithm, learning_rate=learning_rate)
    assert (model.training_errors_ <= model.training_error_bound_).all()
    np.testing.assert_allclose(1 - model.training_errors_, list(model.staged_score(X, TWO)))
    # Two classes: the exponential loss is the bound.
    np.testing.assert_allclose(model.training_error_bound_, model.exponential_loss_)
    if algorithm in ("discrete", "adaptive_beta") and learning_rate == 1.0:
        error = model.estimator_errors_
        product = np.cumprod(2 * np.sqrt(error * (1 - error)))
        np.testing.assert_allclose(model.training_error_bound_, product)


def test_more_classes_have_a_bound_for_votes():
    model = boosted(THREE, rounds=30)
    assert (model.training_errors_ <= model.training_error_bound_).all()
    assert np.isnan(boosted(THREE, algorithm="real").training_error_bound_).all()


def test_exponential_loss_is_that_of_the_score():
    """F = ½Σα·sign: half the votes are the stagewise coefficients."""
    model = boosted()
    signs = np.where(TWO == "out", 1.0, -1.0)
    for loss, decision, votes in zip(
        model.exponential_loss_,
        model.staged_decision_function(X),
        np.cumsum(model.estimator_weights_),
        strict=True,
    ):
        assert loss == pytest.approx(np.mean(np.exp(-signs * decision * votes / 4)))


def test_fixed_factor_takes_the_total_weight_to_a_share():
    """γ = .1: β = 2/3; a learner that errs on .4 leaves .8 of the total weight."""
    x, y = np.arange(10.0)[:, None], np.tile([0, 1], 5)
    learner = Scripted(Script([0, 1, 2, 3]))
    model = th.AdaBoostClassifier(learner, n_estimators=1, algorithm="fixed_beta").fit(x, y)
    beta = th.theory.boosting_factor(0.1)
    assert model.estimator_errors_[0] == pytest.approx(0.4)
    assert np.exp(-model.estimator_weights_[0]) == pytest.approx(beta) == pytest.approx(2 / 3)
    assert model.exponential_loss_[0] * np.sqrt(beta) == pytest.approx(0.8)
    assert model.training_error_bound_[0] == pytest.approx(th.theory.boosting_error_bound(0.1, 1))


def test_fixed_factor_answers_with_the_majority():
    model = boosted(algorithm="fixed_beta", gamma=0.05)
    votes = np.mean([learner.predict(X) == "out" for learner in model.estimators_], axis=0)
    assert len(set(model.estimator_weights_)) == 1
    assert (model.predict(X) == np.where(votes > 0.5, "out", "in")).all()


def test_adaptive_factors_are_shares_of_votes():
    model = boosted(algorithm="adaptive_beta")
    error = model.estimator_errors_
    beta = error / (1 - error)
    shares = np.log(1 / beta) / np.log(1 / beta).sum()
    np.testing.assert_allclose(model.estimator_weights_, shares)
    hits = np.array([learner.predict(X) == "out" for learner in model.estimators_])
    assert (model.predict(X) == np.where(shares @ hits - 0.5 > 0, "out", "in")).all()
    np.testing.assert_allclose(model.decision_function(X), boosted().decision_function(X))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_real_form_step_by_step(y):
    x, y = X[:FEW], y[:FEW]
    classes, codes = np.unique(y, return_inverse=True)
    k, n = len(classes), len(y)
    weight, total = np.ones(n), np.zeros((n, k))
    for _ in range(8):
        p = PlainStump().fit(x, y, sample_weight=weight).predict_proba(x)
        log_p = np.log(np.maximum(p, 0.5 / (n + 1)))
        f = (k - 1) * (log_p - log_p.mean(axis=1, keepdims=True))
        total += f
        if k == 2:
            np.testing.assert_allclose(f[:, 1], 0.5 * (log_p[:, 1] - log_p[:, 0]))
            weight = weight * np.exp(-np.where(codes == 1, 1, -1) * f[:, 1])
        else:
            weight = weight * np.exp(-f[np.arange(n), codes] / (k - 1))
    model = boosted(y, rounds=8, algorithm="real")
    expected = 2 * total[:, 1] if k == 2 else total
    np.testing.assert_allclose(model.decision_function(x), expected, rtol=1e-7, atol=1e-7)
    odds = np.exp(total / (k - 1))
    np.testing.assert_allclose(
        model.predict_proba(x), odds / odds.sum(axis=1, keepdims=True), atol=1e-9
    )


@pytest.mark.parametrize("algorithm", FORMS)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_margins_are_positive_where_the_label_is_right(algorithm, y):
    model = boosted(y, algorithm=algorithm, rounds=11)
    margins = model.margins(X, y)
    right = model.predict(X) == y
    assert (margins[right] >= 0).all()
    assert (margins[~right] <= 0).all()
    if algorithm != "real":
        assert np.abs(margins).max() <= 1 + 1e-12
        votes = model.estimator_weights_[: len(model.estimators_)]
        named = np.array([learner.predict(X) for learner in model.estimators_])
        shares = np.stack([votes @ (named == c) for c in model.classes_], axis=1) / votes.sum()
        own = shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        shares[np.arange(len(y)), np.searchsorted(model.classes_, y)] = -1
        np.testing.assert_allclose(margins, own - shares.max(axis=1), atol=1e-12)


# How rounds end.


def test_a_perfect_learner_decides_alone():
    x, y = np.arange(10.0)[:, None], np.tile([0, 1], 5)
    model = th.AdaBoostClassifier(Scripted(Script([0, 1], [2, 3], []))).fit(x, y)
    assert (
        model.stopped_
        == "iteration 3: the learner makes no error, and its vote outweighs all others"
    )
    assert model.training_errors_[-1] == 0.0 == model.training_error_bound_[-1]
    assert model.estimator_weights_[2] > model.estimator_weights_[:2].sum()
    first = th.AdaBoostClassifier().fit(X, X[:, 0] > 0)
    assert len(first.estimators_) == 1
    assert first.estimator_weights_[0] == 1.0
    assert first.estimator_errors_[0] == 0.0
    assert first.estimator_weights_.shape == (50,)


@pytest.mark.parametrize("algorithm", FORMS)
def test_rounds_end_when_the_learner_only_guesses(algorithm):
    """A constant: it knows the larger class, and after that weighs both alike."""
    y = np.repeat([0, 1], [30, 10])
    model = th.AdaBoostClassifier(algorithm=algorithm).fit(np.ones((40, 2)), y)
    assert model.score(np.ones((40, 2)), y) == 0.75
    if algorithm != "fixed_beta":
        assert model.stopped_.startswith("iteration 2: the weighted error of the learner is 0.5")
        assert len(model.estimators_) == 1


def test_a_first_learner_that_only_guesses_is_kept_with_a_warning():
    with pytest.warns(
        ConvergenceWarning, match=r"iteration 1: the weighted error of the learner is 0.5"
    ):
        model = th.AdaBoostClassifier().fit(np.ones((4, 1)), [0, 1, 0, 1])
    assert model.predict(np.ones((1, 1))) == [0]


def test_interrupted_rounds_are_kept():
    x, y = np.arange(10.0)[:, None], np.tile([0, 1], 5)
    model = th.AdaBoostClassifier(Scripted(Script([0, 1], [2, 3, 4], KeyboardInterrupt)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    assert model.stopped_ == "iteration 2: interrupted"
    assert len(model.estimators_) == len(model.training_errors_) == 2
    assert model.predict(x).shape == (10,)


def test_out_of_time_keeps_the_rounds_made():
    model = th.AdaBoostClassifier()
    with (
        th.config(max_time=1e-9),
        pytest.warns(ConvergenceWarning, match="out of time after 1 of 50 iterations"),
    ):
        model.fit(X, TWO)
    assert model.stopped_ == "iteration 1: out of time"
    assert model.score(X, TWO) > 0.5


def test_callbacks_see_every_round():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    model = th.AdaBoostClassifier(n_estimators=5).set_callbacks(monitor).fit(X, TWO)
    scores = [row["accuracy"] for row in monitor.get_logs().data if "accuracy" in row]
    assert np.isclose(scores, model.score(X, TWO)).any()
    assert len(scores) >= 5


# Learners of other kinds, weights, bad input.


def test_rows_are_drawn_for_a_learner_without_weights():
    nearest = KNeighborsClassifier(15)
    model = th.AdaBoostClassifier(nearest, n_estimators=5, random_state=0).fit(X, TWO)
    again = th.AdaBoostClassifier(nearest, n_estimators=5, random_state=0).fit(X, TWO)
    assert model.score(X, TWO) > 0.8
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    with pytest.raises(th.errors.ParameterError, match="doesn't support sample_weight"):
        th.AdaBoostClassifier(nearest, resample=False).fit(X, TWO)


def test_drawing_rows_for_trees():
    drawn = boosted(resample=True, random_state=1, rounds=30)
    assert drawn.score(X, TWO) > 0.85
    assert (drawn.decision_function(X) != boosted(rounds=30).decision_function(X)).any()
    again = boosted(resample=True, random_state=1, rounds=30)
    np.testing.assert_array_equal(drawn.decision_function(X), again.decision_function(X))


def test_linear_learners():
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, "a", "b")
    for learner in (th.LogisticRegression(), th.Perceptron(random_state=2), th.LinearSVC()):
        model = th.AdaBoostClassifier(learner, n_estimators=5, random_state=0).fit(X, y)
        assert model.score(X, y) >= learner.fit(X, y).score(X, y) - 0.05
    with pytest.raises(th.errors.ParameterError, match=r"needs probabilities, but Perceptron"):
        th.AdaBoostClassifier(th.Perceptron(), algorithm="real").fit(X, y)
    with pytest.raises(AttributeError, match="feature_importances_"):
        _ = model.feature_importances_


@pytest.mark.parametrize("algorithm", FORMS)
def test_weights_count_rows_bit_for_bit(algorithm):
    """Weights lie on a grid with exact sums, so repeating rows gives the same model exactly."""
    random = np.random.default_rng(1)
    weight = random.integers(0, 4, len(X))
    rows = random.permutation(np.repeat(np.arange(len(X)), weight))
    options = {"n_estimators": 40, "algorithm": algorithm}
    weighted = th.AdaBoostClassifier(**options).fit(X, TWO, sample_weight=weight)
    repeated = th.AdaBoostClassifier(**options).fit(X[rows], TWO[rows])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_missing_values_infinities_and_categories():
    random = np.random.default_rng(2)
    holes = X.copy()
    holes[random.random(X.shape) < 0.2] = np.nan
    holes[:3, 0] = np.inf
    assert boosted_on(holes).score(holes, TWO) > 0.8
    import pandas

    table = pandas.DataFrame({"number": X[:, 0], "colour": np.where(TWO == "in", "red", "blue")})
    assert boosted_on(table).score(table, TWO) == 1.0
    with pytest.raises(ValueError, match="colour"):
        th.AdaBoostClassifier(th.LogisticRegression()).fit(table, TWO)


def boosted_on(table):
    return th.AdaBoostClassifier(n_estimators=40).fit(table, TWO)


def test_one_class_and_one_row():
    for n in (1, 5):
        model = th.AdaBoostClassifier().fit(X[:n], ["only"] * n)
        assert model.predict(X[:2]).tolist() == ["only", "only"]
        np.testing.assert_array_equal(model.predict_proba(X[:2]), np.ones((2, 1)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "SAMME"}, r"algorithm='SAMME' must be one of 'discrete', 'real'"),
        ({"gamma": 0.5}, r"gamma=0.5 must be a number strictly between 0 and 0.5"),
        ({"n_estimators": 0}, r"n_estimators=0 must be a whole number from 1 to"),
        ({"learning_rate": 0.0}, r"learning_rate=0.0 must be a number > 0"),
        ({"resample": "yes"}, r"resample='yes' must be True or False, or one of 'auto'"),
        ({"estimator": "tree"}, r"estimator='tree' must have fit and predict"),
        (
            {"algorithm": "fixed_beta", "learning_rate": 0.5},
            r"algorithm='fixed_beta' needs learning_rate=1.*learning_rate=0.5",
        ),
    ],
)
def test_refusals_name_the_rule_and_the_value(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.AdaBoostClassifier(**options).fit(X, TWO)


def test_refuses_targets_and_weights_that_are_none():
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.AdaBoostClassifier().fit(X[:3], [0.0, np.nan, 1.0])
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        th.AdaBoostClassifier().fit(X, TWO, sample_weight=np.zeros(len(X)))


def test_huge_learning_rate_ends_without_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = boosted(learning_rate=1000.0, rounds=30)
    assert np.isfinite(model.decision_function(X)).all()
