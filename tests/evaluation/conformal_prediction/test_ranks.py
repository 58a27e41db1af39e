"""Quantiles of scores, with ties and with groups of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.evaluation.conformal_prediction.ranks import Ranks
from thetahat.evaluation.conformal_prediction.row_draws import row_draws
from thetahat.foundation.errors import DataError
from thetahat.results import Conformal


def test_without_weights_it_is_a_rank():
    ranks = Ranks(np.arange(1.0, 100.0))
    assert ranks.above(0.95) == 95.0
    assert ranks.below(0.95) == 5.0
    assert ranks.above(0.999) == 99.0


def test_equal_weights_change_nothing():
    scores = np.sort(np.random.default_rng(0).standard_normal(99))
    plain, weighted = Ranks(scores), Ranks(scores, np.ones(99), 99)
    for share in (0.5, 0.8, 0.95):
        assert plain.above(share) == weighted.above(share)
        assert plain.below(share) == weighted.below(share)


def test_a_row_twice_with_half_the_weight_changes_nothing():
    scores = np.sort(np.random.default_rng(1).standard_normal(40))
    twice = Ranks(np.repeat(scores, 2), np.full(80, 0.5), 40)
    for share in (0.3, 0.9):
        assert twice.above(share) == Ranks(scores).above(share)


def test_the_share_of_ties_by_hand():
    ranks = Ranks(np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0]))
    # Of 10 places, 6 are wanted; 2 are below the 5 equal scores, and the new one has 6 places.
    assert ranks.above(0.6) == 1.0
    assert ranks.share_of_ties(0.6) == pytest.approx(4 / 6)


@pytest.mark.parametrize("both_ends", [True, False])
def test_few_quantiles_are_never_nearer(both_ends):
    random = np.random.default_rng(2)
    scores = np.sort(random.standard_normal(3000))
    weights = random.random(3000)
    weights *= 300 / weights.sum()
    for ranks in (Ranks(scores), Ranks(scores, weights, 300)):
        few = ranks.few(199, both_ends=both_ends)
        assert few.scores.size == 199
        for share in (0.6, 0.9, 0.95):
            assert few.above(share) >= ranks.above(share)
            if both_ends:
                assert few.below(share) <= ranks.below(share)


def noisy(n, random):
    """Three classes, where a fifth of the labels is random."""
    X = random.standard_normal((n, 4))
    return X, np.where(random.random(n) < 0.2, random.integers(0, 3, n), X[:, :3].argmax(axis=1))


@pytest.mark.parametrize(
    ("learner", "size"),
    [(th.DecisionTreeClassifier(random_state=0), 2.4), (th.KNeighborsClassifier(5), 1.85)],
)
def test_sets_with_equal_probabilities_hold_at_the_level(learner, size):
    """With all classes at the limit, trees cover 100% with 3 classes, neighbours 92% with 1.94."""
    random = np.random.default_rng(3)
    covered, sizes, all_of_them = [], [], []
    for _ in range(30):
        found = th.conformal(learner, *noisy(400, random))
        X, y = noisy(1000, random)
        sets = found.sets(X, 0.9)
        covered.append(sets[np.arange(1000), y].mean())
        sizes.append(sets.sum(axis=1).mean())
        shares = found.model.predict_proba(X)
        all_of_them.append((1 - shares <= found.ranks.above(0.9) + 1e-12).sum(axis=1).mean())
    assert abs(np.mean(covered) - 0.9) < 0.01
    assert np.mean(sizes) < size < np.mean(all_of_them)


def test_sets_are_the_same_for_the_same_seed():
    random = np.random.default_rng(4)
    found = th.conformal(th.DecisionTreeClassifier(random_state=0), *noisy(300, random))
    X, _ = noisy(500, random)
    np.testing.assert_array_equal(found.sets(X), found.sets(X))
    assert (found.sets(X) != found.sets(X, random_state=1)).any()


def grouped(n_groups, random, large=40):
    """Every fifth group is large and easy; the others have two rows with larger errors."""
    sizes = np.where(np.arange(n_groups) % 5 == 0, large, 2)
    groups = np.repeat(np.arange(n_groups), sizes)
    X = random.standard_normal((groups.size, 2))
    spread = np.where(sizes[groups] == large, 0.3, 3.0)
    return X, X @ [1.0, 2.0] + spread * random.standard_normal(groups.size), groups


def test_every_group_has_the_same_weight():
    random = np.random.default_rng(5)
    covered = []
    for _ in range(30):
        X, y, groups = grouped(60, random)
        found = th.conformal(th.LinearRegression(), X, y, groups=groups)
        assert found.n_groups == 60
        assert found.weights.sum() == pytest.approx(60)
        again = Conformal.from_data(found.model, found.as_data())
        X, y, groups = grouped(100, random)
        low, high = found.interval(X, 0.9).T
        np.testing.assert_array_equal(again.interval(X, 0.9), np.column_stack([low, high]))
        inside = ((low <= y) & (y <= high)).astype(float)
        per_group = np.bincount(groups, weights=inside) / np.bincount(groups)
        covered.append(per_group.mean())
    assert abs(np.mean(covered) - 0.9) < 0.02


def test_stored_weights_must_belong_to_the_scores():
    X, y, groups = grouped(60, np.random.default_rng(6))
    found = th.conformal(th.LinearRegression(), X, y, groups=groups)
    data = found.as_data()
    for wrong in ([1.0], [-1.0] * len(data["scores"]), [1.0] * len(data["scores"])):
        with pytest.raises(DataError, match="one positive number for each score"):
            Conformal.from_data(found.model, {**data, "weights": wrong})


@pytest.mark.parametrize("model", [th.KNeighborsClassifier(1), th.DecisionTreeClassifier()])
def test_sets_of_single_rows_are_those_of_the_table_and_cover(model):
    """Every row of a table has a number of its own, also if it is predicted alone."""
    covered, places = [], np.array([[0, 0], [1.3, 0], [0, 1.3]])
    for seed in range(6):
        random = np.random.default_rng(seed)
        y = random.integers(0, 3, 250)
        X = places[y] + random.standard_normal((250, 2))
        found = th.conformal(model, X[:150], y[:150])
        sets = found.sets(X[150:], 0.8)
        alone = np.vstack([found.sets(X[i : i + 1], 0.8) for i in range(150, 250)])
        np.testing.assert_array_equal(alone, sets)
        covered.append(sets[np.arange(100), y[150:]].mean())
    assert np.mean(covered) == pytest.approx(0.8, abs=0.06)


def test_draws_of_rows_depend_on_their_values_alone():
    random = np.random.default_rng(0)
    X = random.standard_normal((500, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "x", "y")})
    structured = table.to_records(index=False)
    tables = [table, pl.from_pandas(table), pa.Table.from_pandas(table), np.asarray(structured)]
    for kind in (X, sp.csr_array(X), X.tolist(), *tables):
        drawn = row_draws(kind, np.random.default_rng(1))
        assert np.unique(drawn).size == 500
        assert drawn.mean() == pytest.approx(0.5, abs=0.05)
    expected = row_draws(table, np.random.default_rng(1))
    for kind in tables:
        np.testing.assert_array_equal(row_draws(kind, np.random.default_rng(1)), expected)
    assert (row_draws(X, np.random.default_rng(2)) != row_draws(X, np.random.default_rng(1))).all()
