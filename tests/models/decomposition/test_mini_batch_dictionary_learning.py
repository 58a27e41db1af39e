"""Dictionary learning by batches: its peer, batches by hand, stopping, bad input."""

import warnings

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.models.decomposition.sparse_coding import Coder

from .test_dictionary_learning import objective, planted


def learned(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return th.MiniBatchDictionaryLearning(**options).fit(X)


def value(X, atoms, alpha):
    """The objective per row at the best codes."""
    atoms = np.ascontiguousarray(atoms, dtype=np.float64)
    codes = Coder("lasso_cd", alpha).codes(X, atoms, atoms @ atoms.T)
    return objective(X, codes, atoms, alpha) / len(X)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_the_objective_is_about_that_of_all_rows(seed):
    """200 rows in batches of 66 end with a short one, which must not end the fit."""
    X = load_digits().data[:200]
    X = (X - X.mean(axis=0)) / X.std()
    mini = learned(X, n_components=12, alpha=1.0, batch_size=66, random_state=seed, max_iter=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = th.DictionaryLearning(12, alpha=1.0, max_iter=40, tol=1e-5).fit(X)
    assert value(X, mini.components_, 1.0) <= 1.05 * value(X, whole.components_, 1.0)
    assert np.linalg.norm(mini.components_, axis=1).max() <= 1 + 1e-12


def test_the_objective_is_at_most_that_of_scikit_learn():
    X, _, _ = planted(n=300)
    options = {"n_components": 8, "alpha": 0.3, "batch_size": 50, "max_iter": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = decomposition.MiniBatchDictionaryLearning(
            random_state=0, fit_algorithm="cd", **options
        ).fit(X)
    ours = value(X, learned(X, random_state=0, **options).components_, 0.3)
    assert ours <= 1.01 * value(X, peer.components_, 0.3)


def test_batches_by_hand_are_those_of_fit():
    X, atoms, _ = planted(n=200)
    options = {"n_components": 8, "alpha": 0.5, "batch_size": 50, "shuffle": False}
    start = atoms[:, ::-1].copy()
    fitted = learned(X, max_iter=2, tol=0, max_no_improvement=None, dict_init=start, **options)
    parts = th.MiniBatchDictionaryLearning(dict_init=start, **options)
    for _ in range(2):
        for begin in range(0, 200, 50):
            parts.partial_fit(X[begin : begin + 50])
    np.testing.assert_array_equal(parts.components_, fitted.components_)
    assert parts.n_steps_ == fitted.n_steps_ == 8
    assert fitted.n_iter_ == 2


def test_a_short_batch_counts_by_its_rows():
    """One row in a batch of its own moves the atoms less than a whole batch does."""
    X, _, _ = planted(n=101)
    first = learned(X[:100], n_components=8, batch_size=50, shuffle=False, max_iter=1, tol=0)
    short = learned(X, n_components=8, batch_size=50, shuffle=False, max_iter=1, tol=0,
                    dict_init=first.components_.copy())  # fmt: skip
    alone = learned(X[:100], n_components=8, batch_size=50, shuffle=False, max_iter=1, tol=0,
                    dict_init=first.components_.copy())  # fmt: skip
    assert 0 < np.abs(short.components_ - alone.components_).max() < 0.1


def test_the_end_of_the_steps_is_reported():
    X, _, _ = planted(n=200)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        th.MiniBatchDictionaryLearning(8, alpha=0.2, max_iter=1, tol=0, batch_size=50).fit(X)
    model = th.MiniBatchDictionaryLearning(8, alpha=0.2, batch_size=50, random_state=0).fit(X)
    assert model.solution_.steps == model.n_steps_ == len(model.solution_.trace)
    seen = []
    learned(X, n_components=8, batch_size=50, max_iter=1, callback=seen.append)
    assert [each["step"] for each in seen] == [1, 2, 3, 4]
    assert seen[-1].keys() == {"dictionary", "step", "batch_cost"}


def test_same_seed_same_atoms_and_positive_ones():
    X = np.abs(planted(n=150)[0])
    given = {"n_components": 6, "batch_size": 40, "positive_dict": True, "positive_code": True}
    given["max_iter"] = 5
    one, two = (learned(X, random_state=3, **given) for _ in range(2))
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.components_.min() >= 0
    with th.config(threads=1):
        alone = learned(X, random_state=3, **given)
    np.testing.assert_array_equal(alone.components_, one.components_)
    single = learned(X.astype(np.float32), random_state=3, **given)
    assert single.components_.dtype == np.float32
    np.testing.assert_allclose(single.components_, one.components_, atol=1e-4)


def test_bad_input_is_refused():
    X, _, _ = planted(n=60)
    with pytest.raises(th.errors.DataError, match=r"dict_init has shape \(3, 3\), but must have"):
        th.MiniBatchDictionaryLearning(8, dict_init=np.eye(3)).fit(X)
    model = th.MiniBatchDictionaryLearning(8).partial_fit(X)
    with pytest.raises(ValueError, match="X has 11 features, but MiniBatchDictionaryLearning is"):
        model.partial_fit(X[:, :11])
    with pytest.raises(th.errors.ParameterError, match="the batches so far gave 8 atoms"):
        model.set_params(n_components=9).partial_fit(X)
    with pytest.raises(th.errors.ParameterError, match="batch_size=0"):
        th.MiniBatchDictionaryLearning(batch_size=0).fit(X)
