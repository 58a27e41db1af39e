"""What nearest centroids and discriminants share: batches, files, missing values, samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal
from sklearn.base import clone

import thetahat as th
from tests.models.generative.generative_cases import IRIS, gaussians

MODELS = {
    "nearest": th.NearestCentroid(priors="empirical"),
    "lda": th.LinearDiscriminantAnalysis(),
    "lda shrunk": th.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "lda diagonal": th.LinearDiscriminantAnalysis(covariance="diagonal"),
    "qda": th.QuadraticDiscriminantAnalysis(),
    "qda regularised": th.QuadraticDiscriminantAnalysis(reg_param=0.1),
    "qda diagonal": th.QuadraticDiscriminantAnalysis(covariance="diagonal"),
}
EACH = pytest.mark.parametrize("name", MODELS)


def model_of(name):
    return clone(MODELS[name])


@EACH
@pytest.mark.parametrize("ordered", [False, True])
def test_batches_give_the_fit_to_all_rows(name, ordered):
    X, y = gaussians(seed=6)
    if ordered:
        X, y = X[np.argsort(y)], np.sort(y)
    batches = model_of(name)
    for start in range(0, len(X), 70):
        part = slice(start, start + 70)
        batches.partial_fit(X[part], y[part], classes=[0, 1, 2])
    whole = model_of(name).fit(X, y)
    np.testing.assert_allclose(batches.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(batches.log_density(X), whole.log_density(X), rtol=1e-8)


@EACH
def test_single_rows_as_batches_and_after_a_fit(name):
    X, y = gaussians(seed=6, n=60)
    model = model_of(name).fit(X[:30], y[:30])
    for i in range(30, 60):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(
        model.predict_proba(X), model_of(name).fit(X, y).predict_proba(X), atol=1e-9
    )


@EACH
def test_a_class_that_has_not_come_yet_has_probability_zero(name):
    X, y = gaussians(seed=6)
    model = model_of(name).partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert (model.predict_proba(X)[:, 2] == 0).all()
    assert set(model.predict(X)) == {0, 1}
    assert set(model.sample(50, random_state=0)[1]) == {0, 1}


@EACH
def test_weighted_batches_equal_repeated_rows(name):
    X, y = gaussians(seed=7)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = model_of(name).partial_fit(X, y, classes=[0, 1, 2], sample_weight=weight)
    repeated = model_of(name).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("kind", [th.LinearDiscriminantAnalysis, th.QuadraticDiscriminantAnalysis])
def test_what_needs_all_rows_is_refused_in_batches(kind):
    with pytest.raises(TypeError, match="need all rows at once"):
        kind(shrinkage="auto").partial_fit(*IRIS, classes=[0, 1, 2])


@EACH
def test_rows_in_files_and_memory_maps_and_sparse_rows(name, tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = gaussians(seed=8, n=3000)
    expected = model_of(name).fit(X, y).predict_proba(X)
    names = {f"x{j}": X[:, j] for j in range(3)}
    pq.write_table(pa.table(names | {"y": y}), tmp_path / "rows.parquet", row_group_size=500)
    model = model_of(name).fit(th.scan(tmp_path / "rows.parquet", target="y"))
    np.testing.assert_allclose(
        model.predict_proba(th.scan(tmp_path / "rows.parquet", target="y")), expected, atol=1e-9
    )
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_allclose(model_of(name).fit(mapped, y).predict_proba(X), expected, atol=1e-9)
    sparse = sp.csr_array(X)
    found = model_of(name).fit(sparse, y)
    np.testing.assert_allclose(found.predict_proba(sparse), expected, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "nearest"])
def test_missing_values_are_integrated_out(name):
    X, y = gaussians(seed=9)
    model = model_of(name).set_params(store_covariance=True).fit(X, y)
    rows = X[:40].copy()
    rows[np.random.default_rng(1).random(rows.shape) < 0.4] = np.nan
    rows[0] = np.nan
    joint = model.predict_joint_log_proba(rows)
    for i, row in enumerate(rows):
        known = ~np.isnan(row)
        for c in range(3):
            covariance = model.covariance_[c] if name.startswith("qda") else model.covariance_
            expected = np.log(model.priors_[c])
            if known.any():
                part = covariance[np.ix_(known, known)]
                expected += multivariate_normal(model.means_[c, known], part).logpdf(row[known])
            assert joint[i, c] == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(model.predict_proba(rows[:1]), [model.priors_], rtol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), joint.argmax(axis=1))


def test_nearest_centroids_leave_missing_columns_out():
    X, y = gaussians(seed=9)
    model = th.NearestCentroid().fit(X, y)
    rows = X[:30].copy()
    rows[:, 1] = np.nan
    distance = ((X[:30, None, [0, 2]] - model.centroids_[:, [0, 2]]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(rows), distance.argmin(axis=1))
    assert np.isfinite(model.log_density(rows)).all()


@EACH
@pytest.mark.parametrize("sparse", [False, True])
def test_fits_leave_out_rows_with_missing_values_and_say_so(name, sparse):
    X, y = gaussians(seed=9)
    holes = X.copy()
    holes[[5, 17], [0, 2]] = np.nan
    complete = np.delete(np.arange(len(X)), [5, 17])
    with pytest.warns(UserWarning, match="2 rows with missing values .* are left out of the fit"):
        model = model_of(name).fit(sp.csr_array(holes) if sparse else holes, y)
    expected = model_of(name).fit(X[complete], y[complete])
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-9)


@EACH
def test_infinity_and_rows_of_nan_alone_are_refused(name):
    X, y = gaussians(seed=9)
    bad = X.copy()
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model_of(name).fit(bad, y)
    with pytest.raises(ValueError, match="infinity"):
        model_of(name).fit(X, y).predict(bad)
    with pytest.raises(ValueError, match="NaN in every row"):
        model_of(name).fit(np.full_like(X, np.nan), y)


@EACH
def test_a_batch_of_rows_with_missing_values_alone_changes_nothing(name):
    X, y = gaussians(seed=9)
    model = model_of(name).partial_fit(X, y, classes=np.unique(y))
    before, lost = model.predict_proba(X), X[:4].copy()
    lost[:, 1] = np.nan
    with pytest.warns(UserWarning, match="4 rows with missing values .* are left out of the fit"):
        model.partial_fit(lost, y[:4])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    lost[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(lost, y[:4])


@pytest.mark.parametrize("name", ["nearest", "lda", "lda diagonal", "qda", "qda diagonal"])
def test_samples_have_the_moments_of_the_classes(name):
    X, y = gaussians(seed=10)
    model = model_of(name).fit(X, y)
    rows, labels = model.sample(20_000, random_state=0)
    again = model.sample(20_000, random_state=0)
    np.testing.assert_array_equal(rows, again[0])
    shares = model._class_shares()
    np.testing.assert_allclose(np.bincount(labels) / len(labels), shares, atol=0.02)
    refit = model_of(name).fit(rows, labels)
    np.testing.assert_allclose(refit.predict_proba(X), model.predict_proba(X), atol=0.12)
    assert np.mean(model.log_density(rows)) == pytest.approx(
        np.mean(refit.log_density(rows)), abs=0.05
    )


@EACH
def test_novel_rows_are_less_probable(name):
    X, y = gaussians(seed=10)
    model = model_of(name).fit(X, y)
    threshold = model.novelty_threshold(X, share=0.01)
    assert np.mean(model.novelty(X) > threshold) <= 0.01
    assert model.novelty([[500.0, -500.0, 500.0]])[0] > threshold


@EACH
def test_float32_rows_stay_accurate(name):
    X, y = gaussians(seed=11)
    single = (X + 1000.0).astype(np.float32)
    found = model_of(name).fit(single, y)
    expected = model_of(name).fit(single.astype(np.float64), y)
    np.testing.assert_allclose(
        found.predict_proba(single), expected.predict_proba(single.astype(np.float64)), atol=1e-9
    )


@EACH
@pytest.mark.parametrize("sparse", [False, True])
def test_a_class_that_loses_all_rows_to_missing_values_is_named(name, sparse):
    X, y = gaussians(seed=9)
    holes = X.copy()
    holes[y == 1, 2] = np.nan
    rows = sp.csr_array(holes) if sparse else holes
    for given in (None, np.arange(len(y)) % 2):
        with (
            pytest.warns(UserWarning, match="missing values first if this affects many rows"),
            pytest.raises(ValueError, match="class 1 has no rows to fit, because all of its rows"),
        ):
            model_of(name).fit(rows, y, sample_weight=given)


SHRUNK = {
    "qda shrunk": th.QuadraticDiscriminantAnalysis(shrinkage=0.2),
    "qda auto": th.QuadraticDiscriminantAnalysis(shrinkage="auto"),
    "qda estimator": th.QuadraticDiscriminantAnalysis(covariance_estimator=th.OAS()),
    "lda auto": th.LinearDiscriminantAnalysis(shrinkage="auto"),
    "lda estimator": th.LinearDiscriminantAnalysis(covariance_estimator=th.OAS()),
    "nearest uniform": th.NearestCentroid(),
    "nearest manhattan": th.NearestCentroid("manhattan"),
}


@pytest.mark.parametrize("name", MODELS | SHRUNK)
def test_a_class_of_weight_zero_has_probability_zero_and_no_mean(name):
    X, y = gaussians(seed=9)
    kept = y != 1
    model = clone((MODELS | SHRUNK)[name])
    found = clone(model).fit(X, y, sample_weight=kept.astype(float))
    expected = clone(model).fit(X[kept], y[kept])
    means = getattr(found, "means_", getattr(found, "centroids_", None))
    assert np.isnan(means).all(axis=1).tolist() == [False, True, False]
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    if name == "nearest manhattan":
        return
    shares = found.predict_proba(X)
    np.testing.assert_allclose(shares[:, [0, 2]], expected.predict_proba(X), atol=1e-10)
    assert (shares[:, 1] == 0).all()
    assert set(found.sample(50, random_state=0)[1]) == {0, 2}


def test_given_probabilities_for_a_class_without_rows_are_refused():
    X, y = gaussians(seed=6)
    weight = (y < 2).astype(float)
    with pytest.raises(
        ValueError, match="class 2 has a positive probability in priors, but no row"
    ):
        th.LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).fit(X, y, sample_weight=weight)
    model = th.LinearDiscriminantAnalysis().fit(X, y, sample_weight=weight)
    assert (model.predict_proba(X)[:, 2] == 0).all()
