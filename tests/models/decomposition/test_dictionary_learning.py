"""Dictionary learning: a falling objective, optimal codes, planted atoms, and its peer."""

import warnings

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

import thetahat as th


def planted(n=400, d=12, k=8, used=2, seed=0):
    """Rows that are combinations of a few of k unit atoms."""
    random = np.random.default_rng(seed)
    atoms = random.standard_normal((k, d))
    atoms /= np.linalg.norm(atoms, axis=1)[:, None]
    codes = np.zeros((n, k))
    for row in codes:
        row[random.choice(k, used, replace=False)] = random.uniform(2, 4, used)
    codes *= random.choice([-1.0, 1.0], codes.shape)
    return codes @ atoms, atoms, codes


def learned(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return th.DictionaryLearning(**options).fit(X)


def objective(X, codes, atoms, alpha):
    return 0.5 * ((X - codes @ atoms) ** 2).sum() + alpha * np.abs(codes).sum()


@pytest.mark.parametrize("positive", [False, True])
def test_objective_never_rises_and_atoms_stay_in_the_ball(positive):
    random = np.random.default_rng(1)
    X = np.abs(random.standard_normal((150, 10)))
    model = learned(
        X, n_components=14, alpha=0.5, max_iter=30, positive_code=positive, positive_dict=positive
    )
    errors = np.array(model.error_)
    assert len(errors) == model.n_iter_
    assert np.all(np.diff(errors) <= 1e-9 * errors[0])
    assert np.linalg.norm(model.components_, axis=1).max() <= 1 + 1e-12
    if positive:
        assert model.components_.min() >= 0
        assert model.set_params(transform_algorithm="lasso_cd").transform(X).min() >= 0


def test_planted_atoms_are_found():
    X, atoms, _ = planted()
    model = learned(X, n_components=8, alpha=0.2, max_iter=300)
    likeness = np.abs(atoms @ model.components_.T)
    assert likeness.max(axis=1).min() > 0.99


def test_codes_are_optimal_for_the_atoms():
    """At the lasso's optimum the slope is ∓alpha on the support and no larger elsewhere."""
    X, _, _ = planted()
    model = learned(X, n_components=8, alpha=0.7, max_iter=10, transform_algorithm="lasso_cd")
    codes = model.transform(X)
    slope = (X - codes @ model.components_) @ model.components_.T
    np.testing.assert_allclose(slope[codes != 0], 0.7 * np.sign(codes[codes != 0]), atol=1e-7)
    assert np.abs(slope).max() <= 0.7 + 1e-7
    assert objective(X, codes, model.components_, 0.7) == pytest.approx(model.error_[-1])


def test_atoms_are_optimal_for_their_codes():
    """At convergence no single atom can be improved: the projected gradient is zero."""
    X, _, _ = planted()
    model = learned(
        X, n_components=8, alpha=0.2, max_iter=3000, tol=1e-13, transform_algorithm="lasso_cd"
    )
    assert model.solution_.outcome.success
    codes = model.transform(X)
    slope = codes.T @ (codes @ model.components_ - X)
    for atom, gradient in zip(model.components_, slope, strict=True):
        inward = gradient - (gradient @ atom) * atom
        assert gradient @ atom < 0
        assert np.linalg.norm(inward) < 1e-3 * np.linalg.norm(gradient)


@pytest.mark.parametrize("fit_algorithm", ["cd", "lars"])
def test_objective_at_least_as_low_as_scikit_learns(fit_algorithm):
    X, _, _ = planted(n=150)
    options = {"n_components": 10, "alpha": 0.5, "max_iter": 15}
    ours = learned(X, transform_algorithm="lasso_cd", fit_algorithm=fit_algorithm, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = decomposition.DictionaryLearning(fit_algorithm="cd", random_state=0, **options)
        theirs.fit(X)
    coded = decomposition.sparse_encode(X, theirs.components_, algorithm="lasso_lars", alpha=0.5)
    # The problem is not convex: two descents end in different valleys, of about one depth.
    assert ours.error_[-1] <= objective(X, coded, theirs.components_, 0.5) * 1.05


@pytest.mark.parametrize("algorithm", ["lasso_cd", "lasso_lars", "omp", "lars", "threshold"])
def test_transform_as_scikit_learn(algorithm):
    X, atoms, _ = planted(n=60)
    X = X + 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    model = learned(
        X, n_components=8, dict_init=atoms, code_init=np.zeros((60, 8)), max_iter=0,
        transform_algorithm=algorithm, transform_alpha=0.3, transform_n_nonzero_coefs=3,
    )  # fmt: skip
    np.testing.assert_allclose(model.components_, atoms, rtol=1e-14)
    expected = decomposition.sparse_encode(
        X, atoms, algorithm=algorithm, alpha=0.3, n_nonzero_coefs=3, max_iter=10_000
    )
    tolerance = 1e-3 if algorithm == "lasso_cd" else 1e-8  # its own stops early
    np.testing.assert_allclose(model.transform(X), expected, atol=tolerance)


def test_matching_pursuit_codes_recover_planted_supports():
    X, atoms, codes = planted(k=6, used=1)
    model = th.DictionaryLearning(
        6, dict_init=atoms, code_init=np.zeros((400, 6)), max_iter=0, transform_n_nonzero_coefs=1
    ).fit(X)
    np.testing.assert_allclose(model.transform(X), codes, atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(codes), X, atol=1e-12)


def test_split_sign_and_the_way_back():
    X, _, _ = planted()
    model = learned(X, n_components=8, max_iter=5, transform_n_nonzero_coefs=4)
    whole = model.transform(X)
    split = model.set_params(split_sign=True).transform(X)
    np.testing.assert_array_equal(split[:, :8] - split[:, 8:], whole)
    assert split.min() >= 0
    assert len(model.get_feature_names_out()) == 16
    np.testing.assert_allclose(model.inverse_transform(split), whole @ model.components_)
    with pytest.raises(th.errors.DataError, match="16"):
        model.inverse_transform(whole)


@pytest.mark.parametrize("algorithm", ["omp", "threshold", "lasso_cd"])
def test_positive_codes(algorithm):
    X, _, _ = planted()
    model = learned(
        X, n_components=8, max_iter=3, positive_code=True, transform_algorithm=algorithm,
        transform_n_nonzero_coefs=3,
    )  # fmt: skip
    codes = model.transform(X)
    assert codes.min() >= 0
    assert codes.max() > 0


def test_more_atoms_than_rows_explain_every_row():
    random = np.random.default_rng(2)
    X = random.standard_normal((6, 9))
    model = learned(X, n_components=12, alpha=1e-3, max_iter=50)
    assert model.error_[-1] < 1e-2 * (X**2).sum()
    assert np.isfinite(model.components_).all()


def test_rows_of_zeros_and_an_overwhelming_penalty():
    assert not learned(np.zeros((5, 3)), n_components=2).components_[0].any()
    X, _, _ = planted()
    model = learned(X, n_components=4, alpha=1e6, transform_algorithm="lasso_cd")
    assert not model.transform(X).any()
    assert model.error_[-1] == pytest.approx(0.5 * (X**2).sum())


def test_callback_sees_every_fifth_round():
    X, _, _ = planted(n=80)
    seen = []
    model = learned(X, n_components=5, max_iter=11, tol=0.0, callback=seen.append)
    assert len(seen) == 3
    assert [len(one["errors"]) for one in seen] == [1, 6, 11]
    np.testing.assert_array_equal(seen[-1]["dictionary"], model.components_)


def test_rounds_that_run_out_are_reported():
    X, _, _ = planted()
    with pytest.warns(ConvergenceWarning, match="relative decrease"):
        th.DictionaryLearning(8, max_iter=1, tol=0.0).fit(X)


def test_codes_that_are_not_optimal_are_reported():
    X, atoms, _ = planted()
    model = th.DictionaryLearning(
        8, dict_init=atoms, code_init=np.zeros((400, 8)), max_iter=0, transform_algorithm="lasso_cd"
    ).fit(X)
    with pytest.warns(ConvergenceWarning, match="Increase transform_max_iter"):
        model.set_params(transform_max_iter=1, transform_alpha=0.01).transform(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "whole number ≥ 1"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"transform_algorithm": "lasso"}, "lasso_cd"),
        ({"transform_algorithm": "lars", "positive_code": True}, "does not support positive_code"),
        ({"dict_init": np.zeros((2, 2)), "code_init": np.zeros((400, 12))}, "dict_init has shape"),
        ({"dict_init": np.zeros((12, 12)), "code_init": np.zeros((3, 12))}, "code_init has shape"),
    ],
)
def test_refusals(options, words):
    X, _, _ = planted()
    with pytest.raises(th.errors.ThetahatError, match=words):
        th.DictionaryLearning(**options).fit(X)


@pytest.mark.parametrize("max_iter", [0, 1, 50])
def test_positive_atoms_stay_positive_from_any_start(max_iter):
    """Without a step that improves on it, the start itself is the answer."""
    X = np.random.default_rng(0).normal(size=(10, 8))
    model = th.DictionaryLearning(5, positive_dict=True, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    assert (model.components_ >= 0).all()
