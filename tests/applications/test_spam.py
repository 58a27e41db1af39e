"""Spam: a bounded number of mistakes, and trees against boosted trees."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import thetahat as th


@pytest.fixture(scope="module")
def spam(example):
    return example("spam")


def test_complements_of_the_course(spam):
    assert "0110 becomes 01101001." in spam.printed
    learner = th.online.MonotoneDisjunction().learn_one([0, 1, 1, 0, 0, 1, 0], False)
    assert learner.literals_.astype(int).tolist() == [1, 0, 0, 1, 1, 0, 1]


def test_a_disjunction_is_monotone_in_the_expanded_variables():
    """x₂ ∨ ¬x₄ ∨ x₇ of 7 variables is x₂ ∨ y₄ ∨ x₇ of 14."""
    X = np.unpackbits(np.arange(128, dtype=np.uint8)[:, None], axis=1)[:, 1:]
    expanded = th.boolean_complement(X)
    rule = X[:, 1] | (1 - X[:, 3]) | X[:, 6]
    assert np.array_equal(rule, expanded[:, 1] + expanded[:, 7 + 3] + expanded[:, 6] > 0)


def test_the_rule_is_found_with_few_mistakes(spam):
    assert spam.kept == ["loan", "winner", "no regards"]
    assert 1 <= spam.learner.mistakes_ <= len(spam.WORDS) + 1 == spam.bound <= 2 * len(spam.WORDS)
    assert spam.learner.consistent_
    monotone = th.online.MonotoneDisjunction().fit(th.boolean_complement(spam.present), spam.rule)
    assert monotone.mistakes_ == spam.learner.mistakes_ == spam.mistakes[-1]
    assert f"{spam.learner.mistakes_} mistakes in 400 messages" in spam.printed


def test_no_order_of_the_messages_exceeds_the_bound(spam):
    random = np.random.default_rng(0)
    for _ in range(20):
        order = random.permutation(len(spam.rule))
        learner = th.online.Disjunction().fit(spam.present[order], spam.rule[order])
        assert learner.mistakes_ <= spam.bound


def test_boosting_halves_the_error_of_a_tree(spam):
    tree, stumps, trees = spam.errors.values()
    assert tree < 0.25
    assert stumps < 0.7 * tree
    assert trees < 0.9 * stumps
    peer = GradientBoostingClassifier(n_estimators=300, max_depth=None, max_leaf_nodes=5)
    peer_error = 1 - peer.fit(spam.X, spam.y).score(spam.X_new, spam.y_new)
    assert trees == pytest.approx(peer_error, abs=0.012)


def test_errors_of_the_table_of_the_course():
    """About 8.7% for a tree and 4.7% and 4.5% for boosted stumps and trees, in one random split."""
    path = Path(os.environ.get("THETAHAT_DATA", ""), "spambase.csv")
    if not path.is_file():
        pytest.skip(f"THETAHAT_DATA names no folder with {path.name}")
    data = np.loadtxt(path, delimiter=",", skiprows=1)
    data = data[np.random.default_rng(0).permutation(len(data))]
    X, y = data[:, :-1], data[:, -1]
    tree, stumps, trees = (
        1 - model.fit(X[:3065], y[:3065]).score(X[3065:], y[3065:])
        for model in (
            th.DecisionTreeClassifier(min_samples_leaf=5),
            th.GradientBoostingClassifier(n_estimators=400, max_depth=1, learning_rate=0.3),
            th.GradientBoostingClassifier(n_estimators=400, max_depth=None, max_leaf_nodes=5),
        )
    )
    assert tree == pytest.approx(0.087, abs=0.015)
    assert stumps == pytest.approx(0.047, abs=0.012)
    assert trees == pytest.approx(0.045, abs=0.012)
