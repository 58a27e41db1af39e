"""Decisions from posteriors and likelihoods: costs, rejection, log-odds, and refusals."""

import numpy as np
import pytest
from scipy import stats

import thetahat as th
from thetahat import theory


def posteriors(n, classes, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(classes), n)


def test_without_costs_the_most_probable_class_wins():
    p = posteriors(200, 4, 0)
    found = theory.bayes_decision(p, classes=list("abcd"))
    assert (found.labels == np.array(list("abcd"))[p.argmax(axis=1)]).all()
    np.testing.assert_allclose(found.risk, 1 - p.max(axis=1))
    assert not found.rejected.any()


def test_the_prior_alone_decides_for_the_most_frequent_class():
    found = theory.bayes_decision([0.2, 0.5, 0.3], classes=["a", "b", "c"])
    assert found.labels == "b"
    assert found.risk == pytest.approx(0.5)


def test_no_other_decision_costs_less():
    p, costs = posteriors(100, 3, 1), np.random.default_rng(1).random((3, 3))
    found = theory.bayes_decision(p, costs=costs)
    expected = np.array([[sum(row * costs[:, j]) for j in range(3)] for row in p])
    np.testing.assert_allclose(found.risk, expected.min(axis=1))
    assert (found.labels == expected.argmin(axis=1)).all()


def test_costs_of_two_classes_move_the_threshold():
    """Positive iff p(1 | x) > c_fp/(c_fp + c_fn)."""
    p = np.linspace(0, 1, 1001)
    found = theory.bayes_decision(np.column_stack([1 - p, p]), costs=[[0, 1], [4, 0]])
    assert p[found.labels == 1].min() == pytest.approx(0.2, abs=2e-3)


def test_rejection_is_chows_rule():
    p = posteriors(500, 3, 2)
    found = theory.bayes_decision(p, reject_cost=0.4)
    assert (found.rejected == (1 - p.max(axis=1) > 0.4)).all()
    assert (found.risk <= 0.4).all()
    assert all(label is None for label in found.labels[found.rejected])
    assert theory.bayes_decision(p, reject_cost=1.0).rejected.sum() == 0


def test_the_label_of_a_rejection_keeps_the_type_of_the_labels():
    p = [[0.6, 0.4], [1.0, 0.0]]
    whole = theory.bayes_decision(p, reject_cost=0.1, reject_label=-1).labels
    assert whole.dtype.kind == "i"
    assert whole.tolist() == [-1, 0]
    text = theory.bayes_decision(p, classes=["a", "b"], reject_cost=0.1, reject_label="?").labels
    assert text.tolist() == ["?", "a"]
    mixed = theory.bayes_decision(p, reject_cost=0.1, reject_label="?").labels
    assert mixed.tolist() == ["?", 0]


def test_a_classifier_rejects_where_it_is_unsure():
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 400)
    X = random.standard_normal((400, 1)) + 2 * y[:, None]
    model = th.LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    sure = theory.bayes_decision(p, classes=model.classes_, reject_cost=0.1, reject_label=-1)
    assert (theory.bayes_decision(p, classes=model.classes_).labels == model.predict(X)).all()
    kept = sure.labels != -1
    assert 0.2 < kept.mean() < 0.95
    assert (sure.labels != y)[kept].mean() < (model.predict(X) != y).mean()


def test_single_precision_probabilities_are_taken():
    p = posteriors(50, 100, 4).astype(np.float32)
    assert (theory.bayes_decision(p).labels == p.argmax(axis=1)).all()


def test_no_rows_and_rows_in_blocks():
    assert theory.bayes_decision(np.empty((0, 3))).labels.shape == (0,)
    p = posteriors(12, 3, 5)
    blocks = theory.bayes_decision(p.reshape(3, 4, 3), reject_cost=0.5, reject_label=-1)
    rows = theory.bayes_decision(p, reject_cost=0.5, reject_label=-1)
    assert (blocks.labels.ravel() == rows.labels).all()


def test_bayes_rule_in_logarithms_does_not_underflow():
    logs = np.array([[-1e5, -1e5 - np.log(3)], [-2e6, -3e6]])
    np.testing.assert_allclose(theory.class_posterior(logs), [[0.75, 0.25], [1.0, 0.0]])
    priors = [0.25, 0.75]
    np.testing.assert_allclose(theory.class_posterior(logs, priors)[0], [0.5, 0.5])


def test_maximum_likelihood_against_bayes_for_the_sun():
    says_yes = np.log([1e-4, 1 - 1e-4])
    assert theory.likelihood_decision(says_yes) == 1
    for beta, decided in ((1e-8, 0), (0.5e-4, 0), (2e-4, 1)):
        posterior = theory.class_posterior(says_yes, [1 - beta, beta])
        assert theory.bayes_decision(posterior).labels == decided
        assert theory.log_odds_decision(says_yes, [1 - beta, beta]) == decided
    assert theory.class_posterior(says_yes, [1 - 1e-4, 1e-4])[1] == 0.5
    assert theory.log_odds_decision(says_yes, [1 - 1e-4, 1e-4]) == 1, "a tie is decided for 1"


def test_log_odds_are_those_of_the_posterior():
    x = np.linspace(-3, 4, 50)
    logs = np.column_stack([stats.norm(0, 1).logpdf(x), stats.norm(1, 1).logpdf(x)])
    priors = [0.7, 0.3]
    posterior = theory.class_posterior(logs, priors)
    expected = np.log(posterior[:, 1] / posterior[:, 0])
    np.testing.assert_allclose(theory.log_odds(logs, priors), expected)
    decided = theory.log_odds_decision(logs, priors, classes=[-1, 1])
    assert (decided == np.where(posterior[:, 1] >= 0.5, 1, -1)).all()
    equal = theory.log_odds_decision(logs)
    assert (equal == (x >= 0.5)).all()
    assert (equal == theory.likelihood_decision(logs)).all()


def test_the_threshold_of_log_odds_is_the_ratio_of_the_costs():
    x = np.linspace(-3, 4, 501)
    logs = np.column_stack([stats.norm(0, 1).logpdf(x), stats.norm(1, 1).logpdf(x)])
    by_costs = theory.bayes_decision(theory.class_posterior(logs), costs=[[0, 1], [5, 0]])
    assert (theory.log_odds_decision(logs, threshold=np.log(1 / 5)) == by_costs.labels).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: theory.bayes_decision([[0.5, 0.6]]), "sum to 1.1"),
        (lambda: theory.bayes_decision([[0.5, 0.5], [0.2, 0.2]]), "row 1 of posterior sum to 0.4"),
        (lambda: theory.bayes_decision([[1.2, -0.2]]), r"posterior\[0, 1\] = -0.2"),
        (lambda: theory.bayes_decision([[np.nan, 1.0]]), "must be finite"),
        (lambda: theory.bayes_decision([[0.5, 0.5]], costs=[1, 2]), r"it must be \(2, 2\)"),
        (lambda: theory.bayes_decision([[0.5, 0.5]], costs=[[0, np.nan], [1, 0]]), "finite"),
        (lambda: theory.bayes_decision([[0.5, 0.5]], classes=["a"]), "one label for each column"),
        (lambda: theory.bayes_decision([[0.5, 0.5]], reject_cost=-1), "a number ≥ 0"),
        (
            lambda: theory.bayes_decision([[0.5, 0.5]], reject_cost=0.1, reject_label=1),
            "is the label of a class",
        ),
        (lambda: theory.class_posterior([[0.0, 0.0]], [0.5, 0.4]), "sum to 0.9"),
        (lambda: theory.class_posterior([[0.0, 0.0]], [1.0]), "Give one prior for each class"),
        (lambda: theory.class_posterior([[0.0, -np.inf]], [0.0, 1.0]), "not defined"),
        (lambda: theory.class_posterior([[np.inf, 0.0]]), "contains inf"),
        (lambda: theory.class_posterior([[np.nan, 0.0]]), "a number or infinity"),
        (lambda: theory.log_odds([[0.0, 0.0, 0.0]]), "there are 2 classes"),
        (lambda: theory.log_odds([[-np.inf, -np.inf]]), "0 in both classes"),
        (lambda: theory.log_odds_decision([[0.0, 0.0]], threshold=np.nan), "threshold"),
        (lambda: theory.likelihood_decision([[-np.inf, -np.inf]]), "no class is most likely"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()
