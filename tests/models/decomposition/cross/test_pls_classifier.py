import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression as Peer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as PeerDiscriminant
from sklearn.naive_bayes import GaussianNB as PeerBayes
from sklearn.neighbors import KNeighborsClassifier

import thetahat as th
from thetahat.data.in_memory import InMemory
from thetahat.errors import CapabilityError, DataError, ParameterError


def spectra(n=60, d=400, seed=0):
    """More columns than rows, with three classes along a few smooth directions."""
    random = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    peaks = np.exp(-0.5 * ((np.arange(d) - np.array([[100], [200], [300]])) / 15) ** 2)
    X = peaks[np.arange(n) % 3] + 3 * random.normal(size=(n, 1)) + random.normal(size=(n, d)) * 0.3
    return X, y


def test_discriminants_of_the_scores_of_signs():
    X, y = load_iris(return_X_y=True)
    model = th.PLSClassifier(2).fit(X, y)
    signs = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    peer = Peer(2, tol=1e-26, max_iter=100_000).fit(X, signs)
    np.testing.assert_allclose(model.transform(X), peer.transform(X), atol=1e-8)
    discriminant = PeerDiscriminant().fit(peer.transform(X), y)
    expected = discriminant.predict_proba(peer.transform(X))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=0.02)
    assert (model.predict(X) == discriminant.predict(peer.transform(X))).mean() > 0.99


def test_two_classes_use_one_column_of_signs():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = th.PLSClassifier(3).fit(X, y)
    regression = th.PLSRegression(3).fit(X, np.where(y == 2, 1.0, -1.0))
    np.testing.assert_allclose(model.x_weights_, regression.x_weights_)
    assert model.decision_function(X).shape == (100,)


def test_more_columns_than_rows():
    X, y = spectra()
    held, truth = spectra(seed=1)
    model = th.PLSClassifier(3).fit(X, y)
    assert model.score(held, truth) == 1.0
    assert list(model.classes_) == ["a", "b", "c"]


@pytest.mark.parametrize("inner", [th.LogisticRegression(), PeerBayes()])
def test_other_classifiers_of_the_scores(inner):
    X, y = spectra()
    model = th.PLSClassifier(2, classifier=inner).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    expected = type(inner)().fit(model.transform(X), codes).predict_proba(model.transform(X))
    np.testing.assert_allclose(model.predict_proba(X), expected)
    assert hasattr(model, "decision_function") == hasattr(inner, "decision_function")


class Blocks(InMemory):
    block_rows = 13


def test_rows_in_blocks():
    X, y = load_iris(return_X_y=True)
    source = Blocks(X=X, y=y.astype(float), n_features=4, has_target=True)
    blocks, whole = th.PLSClassifier(2).fit(source), th.PLSClassifier(2).fit(X, y)
    np.testing.assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=1e-9)


def test_bad_input_is_refused():
    X, y = spectra()
    with pytest.raises(ParameterError, match=r"upper bound is 60\. Got 61"):
        th.PLSClassifier(61).fit(X, y)
    with pytest.raises(ParameterError, match="classifier=3 must be None, or a classifier"):
        th.PLSClassifier(classifier=3).fit(X, y)
    for wrong in (th.LogisticRegression, th.LinearRegression()):
        with pytest.raises(ParameterError, match="must be None, or a classifier"):
            th.PLSClassifier(classifier=wrong).fit(X, y)
    with pytest.raises(DataError, match="class"):
        th.PLSClassifier().fit(X, np.full(60, "a"))
    with pytest.raises(CapabilityError, match="takes no sample_weight"):
        th.PLSClassifier(classifier=KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(60))
