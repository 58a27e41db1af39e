"""Parameters that are small NumPy integers: products with them do not overflow."""

import numpy as np
import pytest

import thetahat as th

X = np.abs(np.random.default_rng(0).standard_normal((60, 3)))


@pytest.mark.parametrize(
    "model",
    [
        th.GaussianMixture(2, max_iter=np.int8(100), n_init=np.int8(3)),
        th.BayesianGaussianMixture(2, max_iter=np.int8(100), n_init=np.int8(3)),
        th.BisectingKMeans(np.int8(3), max_iter=np.int8(100), n_init=np.int8(3)),
        th.KMeans(2, max_iter=np.int8(100), n_init=np.int8(3)),
        th.MiniBatchKMeans(2, max_iter=np.int8(100), n_init=np.int8(3)),
        th.MDS(2, max_iter=np.int8(100), n_init=np.int8(3)),
        th.MiniBatchNMF(2, max_iter=np.int8(100), batch_size=10),
        th.MiniBatchDictionaryLearning(2, max_iter=np.int8(100), batch_size=10),
        th.FastICA(3, algorithm="deflation", max_iter=np.int8(100)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_iterations_are_counted_without_overflow(model):
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    wide = type(model)(**model.get_params())
    wide.set_params(max_iter=100)
    np.testing.assert_equal(result(model.fit(X)), result(wide.fit(X)))


def test_other_numbers_are_whole_numbers_too():
    y = (X[:, 0] > 1).astype(int)
    wide = th.RandomForestClassifier(100, random_state=0).fit(X, y).predict_proba(X)
    narrow = th.RandomForestClassifier(np.int8(100), random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(narrow, wide)
    projections = [
        th.GaussianRandomProjection(k, random_state=0).fit_transform(X) for k in (2, np.int8(2))
    ]
    np.testing.assert_array_equal(*projections)
    th.KNeighborsClassifier(n_jobs=np.int64(1)).fit(X, y)


def result(model):
    names = ("means_", "cluster_centers_", "embedding_", "components_")
    return next(getattr(model, name) for name in names if hasattr(model, name))
