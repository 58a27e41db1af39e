"""Targets that are no arrays of numbers or labels: an error with the rule and the remedy."""

import numpy as np
import pytest
import scipy.sparse

import thetahat as th

X = np.random.default_rng(0).standard_normal((8, 2))
TEXT = np.array(list("abababab"), dtype=np.dtypes.StringDType())
RECORDS = np.array([(1, 2.0)] * 8, dtype=[("a", int), ("b", float)])


class TextArray:
    def __array__(self, dtype=None, copy=None):
        return "abc"


def cyclic():
    rows = []
    rows.append(rows)
    return rows


ODD = {
    "text array": (TextArray, "y is a TextArray.*Give an array"),
    "class": (lambda: np.ndarray, "the class ndarray itself. Give an instance"),
    "iterator": (lambda: np.nditer(X), r"y is a nditer.*Use list\(y\)"),
    "sparse rows": (
        lambda: [scipy.sparse.csr_array([[1.0]])] * 8,
        r"list of sparse arrays.*Use scipy.sparse.vstack\(y\).toarray\(\)",
    ),
    "ragged": (lambda: [[1, 2], [1]] * 4, "row 0 has 2 entries and row 1 has 1 entry. Complete"),
    "ragged inside": (lambda: [[[1], [1, 2]]] * 8, "lists of different lengths.*Give one value"),
    "cyclic": (cyclic, "a list that holds itself.*Give one value"),
}
CLASSIFIERS = [
    th.LogisticRegression,
    th.RandomForestClassifier,
    th.KNeighborsClassifier,
    th.MLPClassifier,
    th.StackingClassifier._example,
]


@pytest.mark.parametrize("make", [th.Ridge, *CLASSIFIERS])
@pytest.mark.parametrize(("given", "message"), ODD.values(), ids=ODD)
def test_odd_targets_are_refused_with_a_remedy(make, given, message):
    with pytest.raises((TypeError, th.errors.DataError), match=f"(?s){message}"):
        make().fit(X, given())


@pytest.mark.parametrize("odd", ["text array", "class", "iterator", "sparse rows", "cyclic"])
def test_odd_features_are_refused_with_a_remedy(odd):
    given, message = ODD[odd]
    message = (
        message.replace("y is", "X is").replace(r"\(y\)", r"\(X\)").replace(r".toarray\(\)", "")
    )
    with pytest.raises((TypeError, th.errors.DataError), match=f"(?s){message}"):
        th.Ridge().fit(given(), X[:, 0])


@pytest.mark.parametrize("make", CLASSIFIERS[:3])
def test_labels_of_numpys_string_type_are_text(make):
    model = make().set_params(
        **({"n_estimators": 5, "random_state": 0} if "Forest" in make.__name__ else {})
    )
    plain = type(model)(**model.get_params()).fit(X, TEXT.astype("U1"))
    model.fit(X, TEXT)
    assert model.classes_.dtype == plain.classes_.dtype
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.score(X, TEXT) == plain.score(X, TEXT.astype("U1"))


def test_missing_text_of_numpys_string_type_is_named():
    y = np.array(["a", None] * 4, dtype=np.dtypes.StringDType(na_object=None))
    with pytest.raises(th.errors.DataError, match="4 of 8 labels are missing"):
        th.LogisticRegression().fit(X, y)


@pytest.mark.parametrize("y", [RECORDS, RECORDS.view(np.recarray)], ids=["records", "recarray"])
def test_records_are_no_labels(y):
    with pytest.raises(th.errors.DataError, match=r"Give one field, such as y\['a'\]"):
        th.LogisticRegression().fit(X, y)


def test_arrays_are_no_labels():
    y = np.empty(8, dtype=object)
    y[:] = [scipy.sparse.csr_array([[1.0]]) for _ in range(8)]
    with pytest.raises(th.errors.DataError, match=r"row 0 is of type csr_array\. Give one"):
        th.LogisticRegression().fit(X, y)


def test_trees_refuse_complex_labels_in_a_line():
    labels = np.array([0, 1j, 0, 1j, 0, 1j, 0, 1j])
    with pytest.raises(ValueError, match=r"^\w+: Complex data not supported: y holds complex"):
        th.DecisionTreeClassifier().fit(X, labels)
