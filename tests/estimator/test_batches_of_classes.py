"""The argument `classes` of partial_fit: repeated in later calls, in any order, but not changed."""

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError

X = np.random.default_rng(0).integers(0, 2, size=(12, 3))
WORDS = np.array(["ham", "spam"])[np.arange(12) % 2]
MODELS = [
    th.LinearDiscriminantAnalysis(),
    th.QuadraticDiscriminantAnalysis(reg_param=0.1),
    th.NearestCentroid(),
    th.NaiveBayes(),
    th.GaussianNB(),
    th.BernoulliNB(),
    th.CategoricalNB(),
    th.ComplementNB(),
    th.MultinomialNB(),
    th.SGDClassifier(random_state=0),
    th.Perceptron(),
    th.MLPClassifier((3,), random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_later_calls_repeat_the_classes_or_are_refused(model):
    model.partial_fit(X, WORDS, classes=["spam", "ham"])
    model.partial_fit(X, WORDS, classes=["spam", "ham"])
    model.partial_fit(X, WORDS)
    for other in (["ham", "spam", "bulk"], ["ham"]):
        with pytest.raises(DataError, match=r"classes=\[.*'ham', 'spam'\]"):
            model.partial_fit(X, WORDS, classes=other)
