"""Scores on a source: those of the same rows in memory, and remedies where rows must be loaded."""

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from tests.data.on_disk.file_cases import write_parquet
from thetahat.data.validation import as_source

FEATURES = ["a", "b", "c"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """X, y, labels and weights, and a function that opens them as a file."""
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 256)
    random = np.random.default_rng(3)
    X = random.standard_normal((1_000, 3)) + 5.0
    y = X @ [1.0, -2.0, 0.5] + random.standard_normal(1_000) + 1e3
    label = np.where(X[:, 0] + random.standard_normal(1_000) > 5.0, "yes", "no")
    weight = random.integers(0, 4, 1_000).astype(float)
    table = dict(zip(FEATURES, X.T, strict=True)) | {"y": y, "label": label, "w": weight}
    table["other"] = y**2
    write_parquet(tmp_path / "rows.parquet", table)

    def scan(target, weighted=False):
        weight = "w" if weighted else None
        return th.scan(tmp_path / "rows.parquet", target=target, weight=weight, features=FEATURES)

    return X, y, label, weight, scan


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model", [th.LinearRegression(), th.HuberRegressor(), th.LinearModel(), th.LinearSVR()]
)
def test_r2_is_that_of_memory(rows, model, weighted):
    X, y, _, weight, scan = rows
    model.fit(X, y)
    w = weight if weighted else None
    expected = model.score(X, y, sample_weight=w)
    assert model.score(scan("y", weighted)) == pytest.approx(expected, rel=1e-10)


def test_several_targets_and_constant_ones(rows):
    X, y, _, _, scan = rows
    source = scan(["y", "other"])
    model = th.Ridge().fit(source)
    expected = r2_score(np.column_stack([y, y**2]), model.predict(source))
    assert model.score(source) == pytest.approx(expected, rel=1e-12)
    constant = th.LinearRegression().fit(X, np.zeros(1_000))
    assert constant.score(as_source(X, np.zeros(1_000))) == 1.0
    assert constant.score(as_source(X, np.ones(1_000))) == 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model", [th.LogisticRegression(), th.LinearSVC(), th.LinearModel(loss="logistic")]
)
def test_accuracy_is_that_of_memory(rows, model, weighted):
    X, _, label, weight, scan = rows
    model.fit(X, label)
    w = weight if weighted else None
    expected = model.score(X, label, sample_weight=w)
    assert model.score(scan("label", weighted)) == pytest.approx(expected, rel=1e-14)


def test_names_are_compared_and_targets_needed(rows, tmp_path):
    X, y, _, _, scan = rows
    model = th.Ridge().fit(scan("y"))
    with pytest.raises(th.errors.DataError, match="feature names should match"):
        model.score(th.scan(tmp_path / "rows.parquet", target="y", features=["a", "c", "b"]))
    with pytest.raises(th.errors.DataError, match=r"score needs a target.*target=\.\.\."):
        model.score(th.scan(tmp_path / "rows.parquet", features=FEATURES))
    with pytest.raises(th.errors.DataError, match="a source holds its own y"):
        model.score(scan("y"), y)
    with pytest.raises(th.errors.DataError, match=r"needs the true targets: score\(X, y\)"):
        model.score(X)


def test_a_pipeline_is_fitted_to_a_file(rows):
    X, y, _, _, scan = rows
    model = make_pipeline(th.Standardizer(), th.Ridge()).fit(scan("y"))
    expected = make_pipeline(th.Standardizer(), th.Ridge()).fit(X, y)
    np.testing.assert_array_equal(model[-1].coef_, expected[-1].coef_)
    np.testing.assert_array_equal(model.predict(scan("y")), expected.predict(X))
    assert model.score(scan("y")) == pytest.approx(expected.score(X, y), rel=1e-12)


def test_a_pipeline_of_labels_is_fitted_to_a_file(rows):
    X, _, label, _, scan = rows
    model = make_pipeline(th.Whitening(), th.LogisticRegression()).fit(scan("label"))
    expected = make_pipeline(th.Whitening(), th.LogisticRegression()).fit(X, label)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model[-1].coef_, expected[-1].coef_)
    assert model.score(scan("label")) == expected.score(X, label)


@pytest.mark.parametrize(
    "use",
    [
        lambda source: th.search(th.Ridge(), {"alpha": [1.0, 2.0]}, source),
        lambda source: cross_val_score(th.Ridge(), source),
        lambda source: GridSearchCV(th.Ridge(), {"alpha": [1.0, 2.0]}).fit(source),
        lambda source: make_pipeline(StandardScaler(), th.Ridge()).fit(source),
        lambda source: th.DecisionTreeRegressor().fit(source),
        lambda source: th.VotingRegressor([("a", th.Ridge())]).fit(source),
    ],
)
def test_what_needs_memory_says_how_to_load_the_rows(rows, use):
    *_, scan = rows
    with pytest.raises(th.errors.CapabilityError, match=r"memory.*source\.arrays\(\)"):
        use(scan("y"))


def test_loaded_rows_give_the_same_fit(rows):
    *_, scan = rows
    for target, model in (("label", th.LogisticRegression()), ("y", th.Ridge())):
        source = scan(target, weighted=True)
        coef = model.fit(source).coef_
        np.testing.assert_array_equal(model.fit(*source.arrays()).coef_, coef)
    assert scan("y").arrays()[2] is None
