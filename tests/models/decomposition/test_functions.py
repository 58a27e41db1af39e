"""Factors and sparse codes as functions: what scikit-learn's return, with the values of models."""

import numpy as np
import pytest
import sklearn.decomposition

import thetahat as th

functions = th.functions


def mixtures():
    t = np.linspace(0, 8, 400)
    sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t)), t % 1.3])
    return sources @ np.random.default_rng(0).normal(size=(3, 4)) + 2.0


@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
def test_fastica_returns_matrices_that_give_the_sources(whiten):
    X = mixtures()
    K, W, S, mean, n_iter = functions.fastica(
        X, 3, whiten=whiten, return_X_mean=True, return_n_iter=True
    )
    model = th.FastICA(3, whiten=whiten).fit(X)
    assert np.allclose(W @ K, model.components_)
    assert np.array_equal(S, model.transform(X))
    assert np.allclose((X - mean) @ (W @ K).T, S)
    assert n_iter == model.n_iter_
    # Scaled so that they act on rows of variance 1, both matrices are those of scikit-learn.
    theirs = sklearn.decomposition.fastica(X, 3, whiten=whiten, random_state=0, tol=1e-6)
    assert np.allclose(np.abs(K @ K.T), np.abs(theirs[0] @ theirs[0].T))
    match = np.abs(np.corrcoef(S.T, theirs[2].T)[:3, 3:])
    assert np.allclose(match.max(axis=1), 1.0, atol=1e-2)
    assert np.allclose(np.linalg.norm(W, axis=1), np.linalg.norm(theirs[1], axis=1))


def test_fastica_of_white_rows_and_without_sources():
    white = th.Whitening().fit_transform(mixtures()[:, :3])
    K, W, S, mean = functions.fastica(white, whiten=False, return_X_mean=True)
    assert K is None
    assert mean is None
    assert np.allclose(white @ W.T, S)
    assert functions.fastica(mixtures(), 2, compute_sources=False)[2] is None
    with pytest.raises(th.errors.ParameterError, match="whiten"):
        functions.fastica(white, whiten=True)


def counts():
    random = np.random.default_rng(1)
    return random.uniform(size=(30, 3)) @ random.uniform(size=(3, 8))


def test_non_negative_factors_are_those_of_the_model():
    X = counts()
    W, H, n_iter = functions.non_negative_factorization(X, n_components=3, max_iter=500)
    model = th.NMF(3, max_iter=500)
    assert np.array_equal(W, model.fit_transform(X))
    assert np.array_equal(H, model.components_)
    assert n_iter == model.n_iter_


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_for_given_components(loss, dtype):
    X, H = counts().astype(dtype), np.random.default_rng(2).uniform(size=(3, 8)).astype(dtype)
    options = dict(H=H, update_H=False, solver="mu", beta_loss=loss, max_iter=5000, tol=1e-9)
    W, kept, n_iter = functions.non_negative_factorization(X, **options)
    theirs, *_ = sklearn.decomposition.non_negative_factorization(X, **options)
    assert np.array_equal(kept, H)
    assert W.dtype == dtype
    assert n_iter == 1
    assert np.allclose(W, theirs, atol=2e-3 if dtype == np.float64 else 1e-2)
    if loss == "frobenius":
        assert np.linalg.norm(X - W @ H) <= np.linalg.norm(X - theirs @ H) * (1 + 1e-6)


def test_given_components_are_checked():
    X = counts()
    with pytest.raises(ValueError, match="update_H=False needs it, but H is None"):
        functions.non_negative_factorization(X, update_H=False)
    with pytest.raises(ValueError, match=r"wrong second dimension .*\(input H\)"):
        functions.non_negative_factorization(X, H=np.ones((3, 5)), update_H=False)
    with pytest.raises(ValueError, match=r"Negative values .*\(input H\)"):
        functions.non_negative_factorization(X, H=-np.ones((3, 8)), update_H=False)
    with pytest.raises(ValueError, match="Negative values in data"):
        functions.non_negative_factorization(-X, H=np.ones((3, 8)), update_H=False)
    with pytest.warns(RuntimeWarning, match="initial W is not used"):
        functions.non_negative_factorization(
            X, W=np.ones((30, 3)), H=np.ones((3, 8)), update_H=False
        )


def atoms():
    D = np.random.default_rng(3).normal(size=(6, 4))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "options",
    [
        dict(algorithm="lasso_cd", alpha=0.3),
        dict(algorithm="lasso_lars", alpha=0.3),
        dict(algorithm="lasso_cd", alpha=0.3, positive=True),
        dict(algorithm="omp", n_nonzero_coefs=2),
        dict(algorithm="lars", n_nonzero_coefs=2),
        dict(algorithm="threshold", alpha=0.3),
        {},
    ],
)
def test_sparse_codes_are_scikit_learns(options):
    X = np.random.default_rng(4).normal(size=(20, 4))
    ours = functions.sparse_encode(X, atoms(), **options)
    theirs = sklearn.decomposition.sparse_encode(X, atoms(), max_iter=10_000, **options)
    assert np.allclose(ours, theirs, atol=2e-3)


def test_sparse_codes_refuse_what_makes_no_sense():
    X = np.ones((3, 4))
    with pytest.raises(ValueError, match="different numbers of features"):
        functions.sparse_encode(X[:, :3], atoms())
    with pytest.raises(ValueError, match="transform_algorithm"):
        functions.sparse_encode(X, atoms(), algorithm="nonsense")


def sparse_rows():
    random = np.random.default_rng(5)
    codes = random.normal(size=(80, 6)) * (random.uniform(size=(80, 6)) < 0.3)
    return codes @ atoms() + 0.01 * random.normal(size=(80, 4))


def objective(X, code, dictionary, alpha):
    return 0.5 * ((X - code @ dictionary) ** 2).sum() + alpha * np.abs(code).sum()


@pytest.mark.filterwarnings("ignore:Objective did not converge")  # of scikit-learn
def test_dictionary_and_its_codes_reach_the_last_objective():
    X = sparse_rows()
    code, dictionary, errors, n_iter = functions.dict_learning(
        X, 6, alpha=0.1, max_iter=300, tol=1e-6, return_n_iter=True
    )
    assert objective(X, code, dictionary, 0.1) == pytest.approx(errors[-1], rel=1e-8)
    assert len(errors) == n_iter
    assert (np.diff(errors) <= 1e-12).all()
    theirs = sklearn.decomposition.dict_learning(
        X, 6, alpha=0.1, max_iter=300, tol=1e-6, method="cd", random_state=0
    )
    assert errors[-1] <= 1.02 * objective(X, *theirs[:2], 0.1)


@pytest.mark.filterwarnings("ignore:Objective did not converge")  # of scikit-learn
def test_dictionary_by_batches():
    X = sparse_rows()
    options = dict(n_components=6, alpha=0.1, batch_size=20, random_state=0)
    code, dictionary = functions.dict_learning_online(X, **options)
    alone = functions.dict_learning_online(X, return_code=False, **options)
    assert np.array_equal(alone, dictionary)
    assert np.allclose(code, functions.sparse_encode(X, dictionary, alpha=0.1), atol=1e-7)
    theirs = sklearn.decomposition.dict_learning_online(X, method="cd", **options)
    assert objective(X, code, dictionary, 0.1) <= 1.1 * objective(X, *theirs, 0.1)


def test_dictionaries_with_positive_entries():
    code, dictionary, _ = functions.dict_learning(
        np.abs(sparse_rows()), 4, alpha=0.1, max_iter=20, tol=1e-2, positive_dict=True,
        positive_code=True,
    )  # fmt: skip
    assert code.min() >= 0
    assert dictionary.min() >= 0
