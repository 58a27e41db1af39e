"""Principal components in very large and very small units, in float32 and float64."""

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError


def rows(n=200, d=30):
    return np.random.default_rng(0).normal(size=(n, d)) * np.linspace(1, 3, d)


@pytest.mark.parametrize("family", [th.PCA, th.IncrementalPCA])
@pytest.mark.parametrize(
    ("unit", "dtype"), [(1e-100, float), (1e-18, "float32"), (1e18, "float32"), (1e100, float)]
)
def test_whitened_components_do_not_depend_on_the_unit(family, unit, dtype):
    X = rows()
    expected = family(3, whiten=True).fit_transform(X)
    model = family(3, whiten=True)
    scores = model.fit_transform((X * unit).astype(dtype))
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)
    back = model.inverse_transform(scores).astype(float) / unit
    np.testing.assert_allclose(
        back, family(3).fit(X).inverse_transform(family(3).fit_transform(X)), atol=1e-2
    )


def test_constant_directions_have_whitened_scores_near_zero():
    X = np.repeat(rows()[:, :1], 3, axis=1) * 1e6
    scores = th.PCA(3, whiten=True).fit_transform(X)
    assert np.abs(scores[:, 1:]).max() < 10


@pytest.mark.parametrize("family", [th.PCA, th.IncrementalPCA, th.TruncatedSVD])
@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_variances_beyond_the_range_of_float32_are_refused(family, unit):
    X = (rows() * unit).astype("float32")
    with pytest.raises(DataError, match="which is beyond the range of float32"):
        family(2).fit(X)
    assert family(2).fit(X.astype(float)).explained_variance_[0] > 0


@pytest.mark.filterwarnings("error")
def test_rows_whose_differences_overflow_are_refused():
    X = np.sign(rows()).astype("float32") * np.float32(3e38)
    with pytest.raises(DataError, match=r"explained_variance_ holds .*e.77, which is beyond"):
        th.PCA(2, svd_solver="full").fit(X)


@pytest.mark.parametrize("unit", [1e-18, 3e18])
def test_scores_and_batches_of_float32_have_no_overflow_below_that(unit):
    X = rows()
    single = (X * unit).astype("float32")
    expected = th.IncrementalPCA(3, batch_size=50).fit(X)
    model = th.IncrementalPCA(3, batch_size=50).fit(single)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-4
    )
    np.testing.assert_allclose(
        model.score(single) + 30 * np.log(unit), expected.score(X), rtol=1e-4
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("family", [th.PCA, th.TruncatedSVD])
def test_random_directions_of_large_rows(family):
    name = "svd_solver" if family is th.PCA else "algorithm"
    options = {name: "randomized", "random_state": 0}
    expected = family(5, **options).fit(rows())
    found = family(5, **options).fit(rows() * 1e150)
    np.testing.assert_allclose(found.singular_values_ / 1e150, expected.singular_values_)
