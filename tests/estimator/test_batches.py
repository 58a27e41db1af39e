"""Batches of partial_fit have the columns of the first batch."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

import thetahat as th

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.integers(0, 6, size=(60, 3)), columns=["a", "b", "c"])
LABELS = np.arange(60) % 2
MODELS = [
    th.LinearDiscriminantAnalysis(),
    th.QuadraticDiscriminantAnalysis(),
    th.NearestCentroid(),
    th.GaussianNB(),
    th.NaiveBayes(),
    th.PCA(),
    th.MiniBatchKMeans(2, random_state=0),
    th.MiniBatchNMF(2, random_state=0),
    th.MiniBatchDictionaryLearning(2, random_state=0),
    th.CategoricalNB(min_categories=9),
    th.SGDRegressor(),
    th.SGDClassifier(),
    th.SGDOneClassSVM(),
    th.MLPRegressor(hidden_layer_sizes=(2,)),
    th.MLPClassifier(hidden_layer_sizes=(2,)),
]


def begun(model):
    wants = is_classifier(model)
    started = clone(model)
    return started.partial_fit(TABLE, LABELS, **({"classes": [0, 1]} if wants else {}))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_batches_with_other_columns_are_refused(model):
    fitted = begun(model)
    for batch in (TABLE[["c", "b", "a"]], TABLE.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.partial_fit(batch, LABELS)
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.partial_fit(TABLE[["a", "b"]].to_numpy(), LABELS)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert fitted.n_features_in_ == 3


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_an_array_after_a_table_keeps_the_names(model):
    fitted = begun(model)
    fitted.partial_fit(TABLE.to_numpy(), LABELS)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]


def test_principal_directions_begin_anew_after_a_whole_fit():
    model = th.PCA().fit(TABLE).partial_fit(-2.0 * TABLE[["c", "b"]])
    expected = th.PCA().fit(-2.0 * TABLE[["c", "b"]])
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)
    assert list(model.feature_names_in_) == ["c", "b"]
