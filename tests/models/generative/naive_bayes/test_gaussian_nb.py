"""Gaussian naive Bayes: scikit-learn's numbers, precision, missing values, batches and corners."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn import naive_bayes as peers
from sklearn.datasets import load_iris

import thetahat as th

X, Y = load_iris(return_X_y=True)


def posterior(model, x):
    """Bayes' rule with SciPy's normal density, column by column; missing columns left out."""
    joint = np.empty((len(x), len(model.classes_)))
    for c in range(joint.shape[1]):
        logs = norm.logpdf(x, model.theta_[c], np.sqrt(model.var_[c]))
        joint[:, c] = np.log(model.class_prior_[c]) + np.where(np.isnan(x), 0.0, logs).sum(axis=1)
    return joint


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(weighted):
    weight = np.random.default_rng(0).random(len(Y)) if weighted else None
    # scikit-learn adds a share of the unweighted variance; 0 makes the two comparable.
    ours = th.GaussianNB(var_smoothing=0).fit(X, Y, weight)
    theirs = peers.GaussianNB(var_smoothing=0).fit(X, Y, weight)
    for name in ("theta_", "var_", "class_count_", "class_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_smoothing_is_a_share_of_the_largest_variance():
    model = th.GaussianNB(var_smoothing=0.1).fit(X, Y)
    assert model.epsilon_ == pytest.approx(0.1 * X.var(axis=0).max(), rel=1e-12)
    plain = th.GaussianNB(var_smoothing=0).fit(X, Y)
    np.testing.assert_allclose(model.var_, plain.var_ + model.epsilon_)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_density_is_that_of_scipy(missing):
    random = np.random.default_rng(1)
    x = X.copy()
    x[random.random(X.shape) < missing] = np.nan
    model = th.GaussianNB().fit(x, Y)
    for c in range(3):
        np.testing.assert_allclose(model.theta_[c], np.nanmean(x[c == Y], axis=0))
        spread = np.nanvar(x[c == Y], axis=0)
        np.testing.assert_allclose(model.var_[c], spread + model.epsilon_, rtol=1e-10)
    joint = posterior(model, x)
    np.testing.assert_allclose(model.predict_joint_log_proba(x), joint, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.log_density(x), np.log(np.exp(joint).sum(axis=1)), rtol=1e-9)
    np.testing.assert_allclose(model.novelty(x), -model.log_density(x))


def test_large_means_keep_the_digits():
    """Columns with mean 1e6 and standard deviation 1 are classified as those with mean 0."""
    random = np.random.default_rng(2)
    code = random.integers(0, 3, 3000)
    shift = np.array([0.0, 0.5, 1.0])[code]
    small = np.round((random.standard_normal((3000, 4)) + shift[:, None]) * 2**20) / 2**20
    near, far = (th.GaussianNB().fit(small + by, code) for by in (0.0, 2.0**20))
    a, b = near.predict_proba(small), far.predict_proba(small + 2.0**20)
    np.testing.assert_allclose(a, b, rtol=1e-8)


def test_float32_with_large_means():
    random = np.random.default_rng(3)
    code = random.integers(0, 2, 2000)
    x = (random.integers(0, 64, (2000, 3)) + 1e6 + 8 * code[:, None]).astype(np.float32)
    single = th.GaussianNB().fit(x, code).predict_proba(x)
    assert single.dtype == np.float32
    double = th.GaussianNB().fit(x.astype(float), code).predict_proba(x.astype(float))
    np.testing.assert_allclose(single, double, rtol=1e-5)


@pytest.mark.parametrize("missing", [False, True])
def test_batches_are_one_fit(missing):
    x = X.copy()
    if missing:
        x[::5, 1] = np.nan
    weight = np.random.default_rng(4).random(len(Y))
    whole, parts = th.GaussianNB().fit(x, Y, weight), th.GaussianNB()
    for rows in np.array_split(np.random.default_rng(5).permutation(len(Y)), 7):
        parts.partial_fit(x[rows], Y[rows], classes=[0, 1, 2], sample_weight=weight[rows])
    for name in ("theta_", "var_", "epsilon_", "class_prior_"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


def test_later_batches_need_the_same_columns_and_classes():
    model = th.GaussianNB().partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"3 features, but GaussianNB is expecting 4"):
        model.partial_fit(X[:, :3], Y)
    with pytest.raises(th.errors.DataError, match=r"do not exist in the initial classes.*7"):
        model.partial_fit(X, Y + 7)
    with pytest.raises(th.errors.DataError, match=r"not the same as on last call"):
        model.partial_fit(X, Y, classes=[0, 1])


def test_files_memory_maps_and_sparse_rows(tmp_path):
    expected = th.GaussianNB().fit(X, Y).predict_proba(X)
    table = pyarrow.table({f"c{j}": X[:, j] for j in range(4)} | {"y": Y})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    source = th.scan(tmp_path / "rows.parquet", target="y")
    np.testing.assert_allclose(th.GaussianNB().fit(source).predict_proba(source), expected)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_array_equal(th.GaussianNB().fit(mapped, Y).predict_proba(mapped), expected)
    sparse = sp.csr_array(X * (X > 1.0))
    dense = th.GaussianNB().fit(sparse.toarray(), Y).predict_proba(sparse.toarray())
    np.testing.assert_allclose(
        th.GaussianNB().fit(sparse, Y).predict_proba(sparse), dense, rtol=1e-9, atol=1e-12
    )


def test_a_column_that_is_constant_in_a_class():
    x = np.column_stack([X, np.where(Y == 1, 5.0, X[:, 0])])
    assert th.GaussianNB().fit(x, Y).score(x, Y) > 0.9
    with pytest.raises(
        th.errors.DataError, match=r"Column 4 is constant in class 1.*var_smoothing"
    ):
        th.GaussianNB(var_smoothing=0).fit(x, Y)


def test_constant_rows_leave_the_class_probabilities():
    model = th.GaussianNB().fit(np.full((4, 2), 3.0), [0, 0, 0, 1])
    found = model.predict_proba([[3.0, 3.0], [4.0, 1.0]])
    np.testing.assert_allclose(found, [[0.75, 0.25]] * 2, rtol=1e-5)


def test_a_class_with_one_row_and_one_without_weight():
    rows = np.r_[0:20, 60]
    model = th.GaussianNB().fit(X[rows], Y[rows])
    np.testing.assert_allclose(model.var_[1], model.epsilon_)
    assert model.predict(X[60:61]) == Y[60]
    weight = (Y != 2).astype(float)
    model = th.GaussianNB().fit(X, Y, sample_weight=weight)
    assert model.class_prior_[2] == 0
    assert (model.predict(X) != 2).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_missing_columns_and_infinity():
    x = X.copy()
    x[Y == 0, 2] = np.nan
    model = th.GaussianNB().fit(x, Y)
    np.testing.assert_allclose(model.theta_[0, 2], X[Y != 0, 2].mean())
    x[:, 2] = np.nan
    with pytest.raises(th.errors.DataError, match=r"Column 2 holds missing values only"):
        th.GaussianNB().fit(x, Y)
    x[:, 2], x[3, 1] = 0.0, np.inf
    with pytest.raises(th.errors.DataError, match=r"infinity.*column 1.*row 3"):
        th.GaussianNB().fit(x, Y)
    with pytest.raises(th.errors.DataError, match=r"infinity.*column 1.*row 3"):
        th.GaussianNB().fit(X, Y).predict(x)


def test_a_row_with_all_entries_missing_has_the_class_probabilities():
    model = th.GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba([[np.nan] * 4]), [[0.2, 0.3, 0.5]])


def test_samples_have_the_moments_of_their_class():
    model = th.GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, Y)
    rows, labels = model.sample(30_000, random_state=0)
    np.testing.assert_allclose(np.bincount(labels) / 30_000, [0.2, 0.3, 0.5], atol=0.01)
    for c in range(3):
        np.testing.assert_allclose(rows[labels == c].mean(axis=0), model.theta_[c], atol=0.03)
        np.testing.assert_allclose(rows[labels == c].var(axis=0), model.var_[c], rtol=0.06)


def test_equal_variances_give_the_linear_rule():
    """The boundary of two classes with equal variances and priors is halfway between the means."""
    x = np.array([[-1.0], [1.0], [3.0], [5.0]])
    model = th.GaussianNB().fit(x, [0, 0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[2.0]]), [[0.5, 0.5]], rtol=1e-9)
    assert model.predict([[1.999], [2.001]]).tolist() == [0, 1]
