"""Contradictions: reported in the round that makes them, as trying every disjunction tells."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import thetahat as th
from thetahat import online

GOLDEN = Path(__file__).parents[2] / "persistence" / "golden"


def first_impossible_round(literals, labels):
    """The round after which none of all disjunctions of the literals is right on every row."""
    every = np.array(list(product([False, True], repeat=literals.shape[1])))
    agreeing = np.ones(len(every), dtype=bool)
    for number, (row, label) in enumerate(zip(literals, labels, strict=True), start=1):
        agreeing &= (every & row).any(axis=1) == label
        if not agreeing.any():
            return number
    return None


def noisy_stream(seed, width, negations):
    random = np.random.default_rng(seed)
    X = random.random((60, width)) < random.choice([0.2, 0.5])
    truth = random.random((2, width)) < [[0.4], [0.4 * negations]]
    y = (X & truth[0]).any(axis=1) | (~X & truth[1]).any(axis=1)
    return X, y ^ (random.random(60) < random.choice([0.0, 0.03, 0.1]))


def reported(learner, X, y):
    return online.play(learner, zip(X.astype(float), y, strict=True)).inconsistent_round


@pytest.mark.parametrize("seed", range(25))
def test_contradictions_are_reported_in_the_round_that_makes_them(seed):
    X, y = noisy_stream(seed, 1 + seed % 6, negations=False)
    assert reported(online.MonotoneDisjunction(), X, y) == first_impossible_round(X, y)
    assert reported(online.Winnow(), X, y) == first_impossible_round(X, y)
    X, y = noisy_stream(seed, 1 + seed % 4, negations=True)
    expected = first_impossible_round(np.hstack([X, ~X]), y)
    assert reported(online.Disjunction(), X, y) == expected


def test_the_streams_tried_are_of_both_kinds():
    rounds = [
        first_impossible_round(*noisy_stream(seed, 1 + seed % 6, False)) for seed in range(25)
    ]
    assert rounds.count(None) >= 5
    assert len(set(rounds)) >= 8


@pytest.mark.parametrize("learner", [online.MonotoneDisjunction, online.Disjunction, online.Winnow])
@pytest.mark.parametrize("labels", [[1, 0], [0, 1]])
def test_a_row_with_both_labels_is_a_contradiction(learner, labels):
    assert not learner().fit([[1, 0], [1, 0]], labels).consistent_
    assert learner().fit([[1, 0], [0, 0]], [1, 0]).consistent_


def test_a_negative_row_may_contradict_an_earlier_positive_one():
    learner = online.MonotoneDisjunction()
    learner.learn_one([1, 1, 0], True).learn_one([1, 0, 0], False)
    assert learner.consistent_
    assert not learner.learn_one([0, 1, 0], False).consistent_


def test_winnow_reports_rows_that_no_disjunction_labels():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (300, 6)), random.integers(0, 2, 300)
    learner = online.Winnow(n_relevant=1).fit(X, y)
    assert learner.mistakes_ > learner.mistake_bound_
    assert not learner.consistent_


def test_winnow_reports_more_mistakes_than_so_few_variables_cause():
    rows = np.repeat(np.eye(40), 6, axis=0)
    labels = np.append(np.ones(239), 0)
    rows[-1] = 0
    learner = online.Winnow(n_relevant=1).fit(rows, labels)
    assert learner.mistakes_ > learner.mistake_bound_
    assert not learner.consistent_
    assert online.Winnow(n_relevant=40).fit(rows, labels).consistent_
    assert online.MonotoneDisjunction().fit(rows, labels).consistent_


def test_rows_are_kept_only_while_they_could_be_contradicted():
    random = np.random.default_rng(0)
    X = random.random((3000, 30)) < 0.2
    y = X[:, :3].any(axis=1)
    learner = online.MonotoneDisjunction().fit(X, y)
    assert learner.consistent_
    assert not learner._agreement.undecided
    twice = online.MonotoneDisjunction().fit([[1, 1, 0]] * 9 + [[0, 0, 0]], [1] * 9 + [0])
    assert len(twice._agreement.undecided) == 1


def test_a_learner_goes_on_from_a_file_as_if_it_had_never_been_away(tmp_path):
    learner = online.Disjunction().partial_fit([[1, 0], [0, 1]], [1, 1], classes=[0, 1])
    th.save(learner, tmp_path / "learner.theta")
    loaded = th.load(tmp_path / "learner.theta")
    for each in (learner, loaded):
        assert each.partial_fit([[1, 1]], [0]).consistent_
        assert not each.partial_fit([[1, 0]], [0]).consistent_


@pytest.mark.parametrize("name", ["MonotoneDisjunction", "Disjunction", "Winnow"])
def test_files_that_kept_no_rows_still_learn(name):
    old = th.load(next(GOLDEN.glob(f"*/online.{name}.theta")))
    rounds = old.n_rounds_
    assert old.partial_fit(np.ones((1, 3)), ["yes"]).n_rounds_ == rounds + 1
