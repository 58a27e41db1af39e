"""Stored models whose parts do not fit each other are refused, however they arrive."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

import thetahat as th
from thetahat.catalog import estimators

CLASSIFIERS = {name: kind for name, kind in estimators().items() if is_classifier(kind._example())}
X = np.floor(np.abs(np.random.default_rng(0).standard_normal((60, 4)) * 2))


def fitted(name):
    model = CLASSIFIERS[name]._example()
    few = {"n_estimators": 5, "max_iter": 5} if "max_leaf_nodes" in model.get_params() else {}
    model.set_params(**{each: few[each] for each in few if each in model.get_params()})
    labels = np.array(list("abc" if get_tags(model).classifier_tags.multi_class else "ab"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, labels[np.arange(60) % len(labels)])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_that_do_not_fit_are_refused(name, tmp_path):
    model = fitted(name)
    expected = model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    whole, path = model.classes_, tmp_path / "forged.theta"
    for forged in (whole[:-1], whole[:1], np.append(whole, "z"), whole[:, None]):
        model.classes_ = forged
        with pytest.raises(th.errors.DataError):
            pickle.loads(pickle.dumps(model))
        th.save(model, path)
        with pytest.raises(th.errors.DataError):
            th.load(path)


@pytest.mark.parametrize("kind", [th.DecisionTreeClassifier, th.RandomForestClassifier])
def test_labels_of_several_outputs(kind):
    targets = np.column_stack([np.arange(60) % 2, np.arange(60) % 3])
    model = kind(random_state=0).fit(X, targets)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    model.classes_ = [model.classes_[0], model.classes_[1][:1]]
    with pytest.raises(th.errors.DataError, match=r"classes_ has \[2, 1\] labels for \[2, 3\]"):
        pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("name", ["GaussianNB", "DecisionTreeClassifier", "KNeighborsClassifier"])
def test_a_single_class_is_stored(name):
    model = CLASSIFIERS[name]._example().fit(X, np.full(60, "a"))
    assert set(pickle.loads(pickle.dumps(model)).predict(X)) == {"a"}


def test_weights_of_labels_in_several_columns_are_stored():
    """Of several labels per row, each has a column of coefficients."""
    labels = np.column_stack([X[:, 0] > 1, X[:, 1] > 1, X[:, 2] > 1]).astype(int)
    for model in (th.RidgeClassifier(), th.MLPClassifier(max_iter=300, random_state=0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, labels)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


ROWS = np.random.default_rng(1).standard_normal((60, 3))
TARGET = ROWS @ [1.0, -2.0, 0.5]
LABELS = np.digitize(TARGET, [-1, 1])


@pytest.mark.parametrize(
    ("model", "name", "change"),
    [
        (th.LogisticRegression().fit(ROWS, LABELS), "intercept_", lambda part: part[:1]),
        (
            th.Ridge().fit(ROWS, ROWS[:, :2]),
            "intercept_",
            lambda part: part[:1],
        ),
        (th.GaussianMixture(3, random_state=0).fit(ROWS), "weights_", lambda part: part[:1]),
        (th.GaussianNB().fit(ROWS, LABELS), "var_", lambda part: part[:1]),
        (th.KNeighborsClassifier().fit(ROWS, LABELS), "classes_", lambda part: part[::-1]),
    ],
    ids=["classes", "targets", "mixture", "bayes", "order"],
)
def test_parts_that_numpy_would_repeat_are_refused(tmp_path, model, name, change):
    wrong = clone(model)
    wrong.__dict__.update(model.__dict__, **{name: change(getattr(model, name)).copy()})
    with pytest.raises(th.errors.DataError, match=name):
        pickle.loads(pickle.dumps(wrong))
    th.save(wrong, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match=name):
        th.load(tmp_path / "wrong.theta")


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (th.PCA(2), "mean_"),
        (th.PCA(2), "components_"),
        (th.KMeans(2, random_state=0), "cluster_centers_"),
        (th.Ridge(), "coef_"),
        (th.EmpiricalCovariance(), "location_"),
    ],
)
def test_one_entry_for_several_columns_is_refused(model, attribute):
    model = clone(model).fit(X, X[:, 0])
    setattr(model, attribute, getattr(model, attribute)[..., :1])  # NumPy would repeat it
    with pytest.raises(th.errors.DataError, match=f"{attribute} has 1 entries for 4 columns"):
        pickle.loads(pickle.dumps(model))
    setattr(model, attribute, np.full(X.shape[1], "text"))
    with pytest.raises(th.errors.DataError, match=f"{attribute} must hold numbers"):
        pickle.loads(pickle.dumps(model))
