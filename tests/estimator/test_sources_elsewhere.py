"""Sources for models that need rows in memory, have no weights, or leave out missing values."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from thetahat.catalog import estimators
from thetahat.estimator.distributed.routing import ROWWISE

N_ROWS = 60
RANDOM = np.random.default_rng(0)
X = np.abs(RANDOM.normal(size=(N_ROWS, 3))) + 0.1
LABELS = (X[:, 0] > 0.7).astype(int)
NUMBERS = X[:, 0] + 0.1 * RANDOM.random(N_ROWS)
MISSING = np.where(RANDOM.random(X.shape) < 0.1, np.nan, X)


@pytest.fixture
def scanned(tmp_path):
    def write(rows, **roles):
        np.save(tmp_path / "rows.npy", rows)
        return th.scan(tmp_path / "rows.npy", **roles)

    return write


WHOLE = [
    th.AdaBoostClassifier(n_estimators=3),
    th.BaggingRegressor(th.Ridge(), 3, random_state=0),
    th.DecisionTreeClassifier(),
    th.DecisionTreeRegressor(),
    th.ExtraTreeRegressor(),
    th.GaussianProcessClassifier(optimizer=None),
    th.GaussianProcessRegressor(optimizer=None),
    th.GradientBoostingRegressor(n_estimators=3),
    th.IsolationForest(n_estimators=3, random_state=0),
    th.KNeighborsRegressor(),
    th.StackingClassifier([("nearest", th.KNeighborsClassifier())]),
    th.SVC(),
    th.VotingRegressor([("line", th.Ridge()), ("tree", th.DecisionTreeRegressor())]),
]


@pytest.mark.parametrize("model", WHOLE, ids=lambda model: type(model).__name__)
def test_models_of_rows_in_memory_predict_files(model, scanned):
    model = clone(model).fit(X, LABELS if is_classifier(model) else NUMBERS)
    for method in ROWWISE:
        if hasattr(model, method):
            found = getattr(model, method)(scanned(X))
            np.testing.assert_allclose(found, getattr(model, method)(X), rtol=1e-12)


@pytest.mark.parametrize("named", [False, True])
def test_ensembles_of_rows_in_memory_score_sources(named, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(X, columns=["a", "b", "c"])
    rows.assign(y=NUMBERS).to_parquet(tmp_path / "rows.parquet")
    source = th.scan(tmp_path / "rows.parquet", target="y")
    members = [("line", th.Ridge()), ("theirs", make_pipeline(StandardScaler(), th.Lasso(0.01)))]
    for model in (th.VotingRegressor(members), th.StackingRegressor(members)):
        model.fit(rows if named else X, NUMBERS)
        assert model.score(source) == pytest.approx(model.score(rows if named else X, NUMBERS))


def test_what_needs_all_rows_at_once_refuses_blocks(scanned):
    forest = th.RandomForestRegressor(2).fit(X, NUMBERS)
    process = th.GaussianProcessRegressor(optimizer=None).fit(X, NUMBERS)
    for call in (forest.decision_path, lambda rows: process.predict(rows, return_std=True)):
        with pytest.raises(th.errors.CapabilityError, match="needs its rows in memory"):
            call(scanned(X))


UNWEIGHTED = [
    th.IncrementalPCA(1),
    th.LatentDirichletAllocation(2),
    th.SimilarityFeatures(landmarks=3),
    th.online.OnlinePerceptron(),
]


@pytest.mark.parametrize("model", UNWEIGHTED, ids=lambda model: type(model).__name__)
def test_weights_that_a_model_cannot_use_are_refused(model, scanned):
    rows = scanned(X, target=LABELS, weight=np.ones(N_ROWS))
    with pytest.raises(th.errors.CapabilityError, match="have weights"):
        clone(model).fit(rows)


LEAVE_OUT = [
    name
    for name, kind in estimators().items()
    if kind._leaves_out_missing is True and kind._streams
]


@pytest.mark.filterwarnings("ignore:.*are left out of the fit")
@pytest.mark.parametrize("name", LEAVE_OUT)
def test_missing_values_of_files_are_left_out_as_in_memory(name, scanned):
    model = clone(estimators()[name]._example())
    labels = LABELS if is_classifier(model) else NUMBERS
    rows = scanned(MISSING, target=labels)
    kind = "predict" if hasattr(model, "predict") else "transform"
    expected = getattr(clone(model).fit(MISSING, labels), kind)(MISSING)
    np.testing.assert_allclose(getattr(clone(model).fit(rows), kind)(rows), expected, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_criteria_of_mixtures_count_the_weights_of_a_source(criterion, scanned):
    weight = np.arange(N_ROWS) % 4.0
    rows = scanned(X, weight=weight)
    model = th.GaussianMixture(2, random_state=0).fit(rows)
    expected = getattr(model, criterion)(X, sample_weight=weight)
    assert getattr(model, criterion)(rows) == pytest.approx(expected)


@pytest.mark.parametrize(
    "model",
    [
        th.AdaBoostClassifier(n_estimators=2),
        th.GradientBoostingRegressor(n_estimators=2),
        th.HistGradientBoostingClassifier(max_iter=2),
        th.SGDRegressor(max_iter=2, tol=None),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("scattered", ["column", "reversed", "repeated"])
def test_weights_need_not_be_contiguous(model, scattered):
    weight = {
        "column": np.column_stack([NUMBERS, NUMBERS])[:, 1],
        "reversed": NUMBERS[::-1],
        "repeated": np.broadcast_to(2.0, N_ROWS),
    }[scattered]
    y = LABELS if is_classifier(model) else NUMBERS
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    found = clone(model).fit(X, y, sample_weight=weight).predict(X)
    expected = clone(model).fit(X, y, sample_weight=weight.copy()).predict(X)
    np.testing.assert_array_equal(found, expected)


def test_arrays_of_a_file_keep_missing_values(scanned):
    np.testing.assert_array_equal(scanned(MISSING).arrays()[0], MISSING)
