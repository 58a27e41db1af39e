"""GraphicalLassoCV: scores, the refined grid, folds, bad input."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score

import thetahat as th


def chain_rows(n=120, d=5):
    rng = np.random.default_rng(0)
    return np.cumsum(rng.normal(size=(n, d)), axis=1)


def test_scores_are_those_of_cross_validation():
    X = chain_rows()
    model = th.GraphicalLassoCV(alphas=3, n_refinements=2).fit(X)
    results = model.cv_results_
    assert len(results["alphas"]) == 7
    assert results["alphas"][-1] == 0
    assert (np.diff(results["alphas"]) < 0).all()
    for at, alpha in enumerate(results["alphas"]):
        expected = cross_val_score(th.GraphicalLasso(alpha), X, cv=5)
        found = [results[f"split{fold}_test_score"][at] for fold in range(5)]
        np.testing.assert_allclose(found, expected, atol=1e-3)
        assert results["mean_test_score"][at] == pytest.approx(np.mean(found))
        assert results["std_test_score"][at] == pytest.approx(np.std(found))


def test_the_best_penalty_is_chosen_and_fitted_to_all_rows():
    X = chain_rows()
    model = th.GraphicalLassoCV().fit(X)
    best = np.argmax(model.cv_results_["mean_test_score"][:-1])
    assert model.alpha_ == model.cv_results_["alphas"][best]
    np.testing.assert_allclose(
        model.precision_, th.GraphicalLasso(model.alpha_).fit(X).precision_, atol=1e-6
    )
    first = th.GraphicalLassoCV(n_refinements=1).fit(X)
    score = model.cv_results_["mean_test_score"][best]
    assert score >= first.cv_results_["mean_test_score"][:-1].max() - 1e-6


def test_penalties_can_be_given_in_any_order():
    X = chain_rows()
    model = th.GraphicalLassoCV(alphas=[0.01, 0.3, 0.1]).fit(X)
    np.testing.assert_array_equal(model.cv_results_["alphas"], [0.3, 0.1, 0.01, 0.0])
    assert model.alpha_ in (0.3, 0.1, 0.01)


def test_assume_centered_scores_about_zero():
    X = chain_rows() + 3.0
    model = th.GraphicalLassoCV(alphas=[0.1], assume_centered=True).fit(X)
    expected = cross_val_score(th.GraphicalLasso(0.1, assume_centered=True), X, cv=5)
    assert model.cv_results_["mean_test_score"][0] == pytest.approx(expected.mean(), abs=1e-4)
    assert not model.location_.any()


def test_threads_do_not_change_a_bit():
    X = chain_rows(60, 12)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.GraphicalLassoCV(alphas=3, n_refinements=2).fit(X))
    np.testing.assert_array_equal(found[0].precision_, found[1].precision_)
    for name, values in found[0].cv_results_.items():
        np.testing.assert_array_equal(values, found[1].cv_results_[name])


def test_fewer_rows_than_columns_score_minus_infinity_without_penalty():
    model = th.GraphicalLassoCV(alphas=2, n_refinements=1, cv=3).fit(chain_rows(9, 12))
    assert model.cv_results_["mean_test_score"][-1] == -np.inf
    assert np.isfinite(model.cv_results_["mean_test_score"][:-1]).all()


def test_one_column():
    model = th.GraphicalLassoCV(cv=3).fit(chain_rows(30, 1))
    np.testing.assert_allclose(model.precision_, 1 / np.var(chain_rows(30, 1)))


def test_out_of_time_is_reported():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.GraphicalLassoCV().fit(chain_rows(60, 30))
    assert np.isfinite(model.precision_).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(alphas=[0.1, 0.0]), "must be > 0 and finite"),
        (dict(alphas=[-0.1]), "must be > 0 and finite"),
        (dict(alphas=["a"]), "alphas="),
        (dict(alphas=0), "alphas=0 must be"),
        (dict(n_refinements=0), "n_refinements=0 must be"),
        (dict(cv=1), "cv=1 gives no folds"),
        (dict(cv=1000), "cv=1000 gives no folds"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        th.GraphicalLassoCV(**options).fit(chain_rows(20, 3))


def test_a_column_that_is_constant_in_a_fold_is_named():
    X = chain_rows(20, 2)
    X[10:, 1] = 0.0
    with pytest.raises(ValueError, match=r"column 1 has a variance of 0.*fold 0"):
        th.GraphicalLassoCV(cv=KFold(2)).fit(X)


def test_rows_that_are_read_in_blocks_are_refused_with_what_reads_them(tmp_path):
    np.save(tmp_path / "rows.npy", chain_rows(30, 3))
    source = th.scan(tmp_path / "rows.npy")
    with pytest.raises(th.errors.CapabilityError, match="such as GraphicalLasso with a given"):
        th.GraphicalLassoCV().fit(source)
    assert th.GraphicalLasso(alpha=0.1).fit(source).precision_.shape == (3, 3)
