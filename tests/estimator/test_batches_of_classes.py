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


@pytest.mark.parametrize("model", [th.SGDClassifier, th.MLPClassifier])
def test_a_batch_may_be_a_source(model, tmp_path):
    rows = "".join(f"{a},{b},{c},{word}\n" for (a, b, c), word in zip(X, WORDS, strict=True))
    (tmp_path / "rows.csv").write_text("a,b,c,word\n" + rows)
    source = th.scan(tmp_path / "rows.csv", target="word")
    found = model(random_state=0).partial_fit(source, classes=["spam", "ham"]).partial_fit(source)
    same = model(random_state=0).partial_fit(X, WORDS, classes=["spam", "ham"])
    scores = same.partial_fit(X, WORDS).decision_function(X)
    np.testing.assert_array_equal(found.decision_function(source), scores)
