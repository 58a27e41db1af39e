"""Stacking of several label columns, and progress that is printed."""

import numpy as np
import pytest
from sklearn.multioutput import MultiOutputClassifier

import thetahat as th


def rows(n=200):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 3))
    return X, np.column_stack(
        [
            np.where(X[:, 0] > 0, "up", "down"),
            np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-1, 1])],
        ]
    )


def stack(members, **others):
    return th.StackingClassifier(members, th.KNeighborsClassifier(), **others)


FOREST = [("forest", th.RandomForestClassifier(n_estimators=20, random_state=0))]


def test_labels_of_every_column_are_predicted():
    X, y = rows()
    model = stack(FOREST).fit(X, y)
    assert [each.tolist() for each in model.classes_] == [["down", "up"], ["a", "b", "c"]]
    found = model.predict(X)
    assert found.shape == y.shape
    assert np.mean(found == y) > 0.95
    shares = model.predict_proba(X)
    assert [each.shape for each in shares] == [(200, 2), (200, 3)]
    assert model.transform(X).shape == (200, 1 + 2)  # the first class of a column adds nothing


def test_outputs_are_probabilities_of_copies_fitted_without_the_rows():
    X, y = rows(60)
    kept = []

    class Final(th.KNeighborsClassifier):
        def fit(self, X, y):
            kept.append(X)
            return super().fit(X, y)

    tree = th.DecisionTreeClassifier(max_depth=2)
    th.StackingClassifier([("tree", tree)], Final(), cv=3).fit(X, y)
    held = np.arange(20)
    alone = th.DecisionTreeClassifier(max_depth=2).fit(X[20:], y[20:])
    first, last = alone.predict_proba(X[held])
    np.testing.assert_array_equal(kept[0][held], np.hstack([first[:, 1:], last[:, 1:]]))


@pytest.mark.parametrize("method", ["predict_proba", "predict"])
def test_a_class_that_a_fold_lacks_has_probability_zero(method):
    X, y = rows(60)
    y[:, 1] = np.where(np.arange(60) < 20, "c", "b")
    model = stack(FOREST, cv=3, stack_method=method).fit(X, y)
    assert model.transform(X).shape == (60, 2)
    assert model.predict(X).shape == (60, 2)


def test_two_scores_of_two_columns_are_both_kept():
    X, _ = rows()
    codes = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    model = stack([("ridge", th.RidgeClassifier())]).fit(X, codes)
    assert model.transform(X).shape == (200, 2)
    assert np.mean(model.predict(X) == codes) > 0.9


def test_fitted_members_know_the_labels():
    X, y = rows()
    fitted = [(name, member.fit(X, y)) for name, member in FOREST]
    model = stack(fitted, cv="prefit").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), stack(fitted, cv="prefit").fit(X, y).predict(X))
    assert np.mean(model.predict(X) == y) > 0.95
    by_label = stack(fitted, cv="prefit", stack_method="predict").fit(X, y)
    assert by_label.transform(X).max() == 2.0


def test_members_of_other_libraries():
    X, y = rows()
    member = MultiOutputClassifier(th.LogisticRegression())
    assert stack([("several", member)]).fit(X, y).predict(X).shape == y.shape


def test_rows_and_labels_must_match():
    X, y = rows()
    with pytest.raises(ValueError, match="200 rows, y has 199"):
        stack(FOREST).fit(X, y[:-1])


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (th.VotingClassifier, "Voting"),
        (th.VotingRegressor, "Voting"),
        (th.StackingClassifier, "Stacking"),
        (th.StackingRegressor, "Stacking"),
    ],
)
def test_verbose_names_every_fitted_member(model, kind, capsys):
    X, _ = rows()
    labelled = "Classifier" in model.__name__
    y = (X[:, 0] > 0).astype(int) if labelled else X[:, 0]
    member = th.DecisionTreeClassifier() if labelled else th.DecisionTreeRegressor()
    members = [("one", member), ("two", member)]
    model(members).fit(X, y)
    assert capsys.readouterr().out == ""
    model(members, verbose=True).fit(X, y)
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"[{kind}] ....")
    assert "(1 of 2) Processing one, total=" in first
    assert "(2 of 2) Processing two, total=" in last
