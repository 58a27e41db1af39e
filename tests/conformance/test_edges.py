"""What every estimator does at the edges: extreme numbers, odd parameters, interrupts, labels.

Estimators are discovered. Each fit ends in finite answers or in an error of thetahat with a remedy,
never in NaN, in an error of Python or NumPy, or in a warning of NumPy.
"""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import thetahat as th
from thetahat.catalog import estimators
from thetahat.estimator.classifier import LabelledEstimator

KINDS = estimators()
RANDOM = np.random.default_rng(0)
N = 60
X = np.abs(RANDOM.standard_normal((N, 3))) + 0.1
Y = np.abs(X @ [1.0, 2.0, 0.5] + 0.3 * RANDOM.standard_normal(N))
LABELS = (np.median(Y) < Y).astype(int)


def example(name):
    model = KINDS[name]._example()
    settings, known = {"random_state": 0, "n_estimators": 5}, model.get_params(deep=False)
    if "max_leaf_nodes" in known:  # boosting, which has a tree per iteration
        settings |= {"max_iter": 5}
    return model.set_params(**{each: settings[each] for each in settings if each in known})


def targets(model):
    if takes_labels(model):
        return LABELS
    single = get_tags(model).target_tags.single_output
    return Y if single else np.column_stack([Y, Y - X[:, 0]])


def suited(model):
    """The rows, in whole numbers where the model takes categories."""
    return np.floor(X) if get_tags(model).input_tags.categorical else X


def takes_labels(model):
    labelled = isinstance(model, LabelledEstimator) and not is_regressor(model)
    return is_classifier(model) or labelled


def answer(model, x):
    for method in ("decision_function", "predict_proba", "predict", "transform", "log_density"):
        if hasattr(model, method):
            found = getattr(model, method)(x)
            return np.asarray(found.toarray() if sp.issparse(found) else found, dtype=float)
    if hasattr(model, "kneighbors"):
        return model.kneighbors(x)[0]
    for attribute in ("embedding_", "labels_"):  # of the training rows alone
        if hasattr(model, attribute):
            return np.asarray(getattr(model, attribute), dtype=float)
    raise AssertionError(f"{model} has no answer for rows")


def extremes(model):
    """Rows, targets and weights whose sums, squares or reciprocals leave the range of doubles."""
    y = targets(model)
    if has_fit_parameter(model, "sample_weight"):
        for size in (1e308, 1e200, 1e-300, 1e-320):
            yield f"weights of {size}", X, y, np.full(N, size)
        yield "one weight of 1e308", X, y, np.where(np.arange(N) == 0, 1e308, 1.0)
        yield "one weight of 1e-320", X, y, np.where(np.arange(N) == 0, 1e-320, 1.0)
    if not takes_labels(model):
        for size in (1e-310, 1e-200, 1e200, 1e308):
            yield f"targets of {size}", X, y / np.max(abs(y)) * size, None
        first = (np.arange(N) == 0).reshape((N,) + (1,) * (y.ndim - 1))
        yield "one target of 1e308", X, np.where(first, 1e308, y), None
    for size in (1e-310, 1e-300, 1e-160, 1e160, 1e300, 2e307):
        yield f"a column of {size}", X * [1.0, size, 1.0], y, None
        yield f"columns of {size}", X * size, y, None


@pytest.mark.parametrize("name", KINDS)
def test_extreme_numbers_are_fitted_or_refused(name):
    for case, x, y, weight in extremes(example(name)):
        model, options = example(name), {} if weight is None else {"sample_weight": weight}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            try:
                found = answer(model.fit(x, y, **options), x)
            except th.errors.DataError:
                continue
        assert np.isfinite(found).all(), case
        for attribute in ("coef_", "intercept_"):
            values = np.asarray(getattr(model, attribute, 0.0), dtype=float)
            assert np.isfinite(values).all(), case


@pytest.mark.parametrize(
    "name", ["GradientBoostingRegressor", "HistGradientBoostingRegressor", "NonlinearRegression"]
)
def test_targets_that_vanish_in_squares_are_refused(name):
    with pytest.raises(th.errors.DataError, match=r"squares underflow \(up to 5\.\de-200\)"):
        example(name).fit(X, Y * 1e-200)


@pytest.mark.parametrize("loss", ["huber", "poisson", "squared_epsilon_insensitive", "cauchy"])
@pytest.mark.parametrize(("size", "how"), [(1e-200, "underflow"), (1e200, "overflow")])
def test_losses_with_curvature_refuse_extreme_targets(loss, size, how):
    with pytest.raises(th.errors.DataError, match=f"squares {how}"):
        th.LinearModel(loss, "none").fit(X, Y * size)


def test_weights_are_refused_with_row_and_remedy():
    weight = np.ones(N)
    weight[7] = 1e200
    message = (
        r"LinearRegression: the largest sample weight is 1e\+200 \(row 7\).*Divide all weights"
    )
    with pytest.raises(th.errors.DataError, match=message):
        th.LinearRegression().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    ("column", "how"), [("y", "largest target"), ("w", "largest sample weight")]
)
def test_files_with_extreme_targets_or_weights_are_refused(tmp_path, column, how):
    rows = np.column_stack([X, Y, np.ones(N)])
    rows[5, 3 if column == "y" else 4] = 1e305
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,c,y,w", comments="", fmt="%.17g")
    with pytest.raises(th.errors.DataError, match=rf"{how} is 1e\+305.*\(row 5\)"):
        th.LinearRegression().fit(th.scan(path, target="y", weight="w"))


def test_float32_targets_that_do_not_fit_are_refused():
    with pytest.raises(th.errors.DataError, match="for float32 data"):
        th.Ridge().fit(X.astype(np.float32), Y * 1e60)


def test_total_least_squares_of_columns_far_larger_than_the_target():
    found = th.TotalLeastSquares().fit(X * 1e160, Y).coef_ * 1e160
    np.testing.assert_allclose(found, th.LinearRegression().fit(X, Y).coef_, rtol=1e-9)


ODD_NUMBERS = {
    "400 digits": 10**400,
    "20 digits": 10**19,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "nan": np.nan,
    "True": True,
    "text": "1",
    "None": None,
    "float32": np.float32(1),
    "int64": np.int64(1),
    "Decimal": Decimal(1),
    "Fraction": Fraction(1, 2),
    "an array": np.array([1.0]),
    "an array without dimensions": np.array(1.0),
    "complex": 1j,
}
SHORT = {"n_estimators": 3, "max_iter": 10, "scoring": None}
"""Settings that shorten the fits, and a parameter whose values scikit-learn checks."""


def numeric_parameters(model):
    for name, value in model.get_params(deep=False).items():
        if name in ("scoring", "estimator", "regressor") or isinstance(value, BaseEstimator):
            continue
        if isinstance(value, int | float | None) or name in type(model)._ranges:
            yield name


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_odd_numbers_as_parameters_are_taken_or_refused_by_name(name):
    few = slice(0, 24)
    for parameter in numeric_parameters(example(name)):
        for case, value in ODD_NUMBERS.items():
            model = example(name)
            short = {key: SHORT[key] for key in SHORT if key in model.get_params(deep=False)}
            model.set_params(**{**short, parameter: value})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model.fit(suited(model)[few], targets(model)[few])
                except th.errors.ThetahatError as refused:
                    words = str(refused)
                else:
                    words = parameter
            assert parameter in words, f"{parameter}={case}: {words}"


@pytest.mark.parametrize(
    ("model", "parameter"),
    [
        (th.DecisionTreeRegressor(leaf_rate=np.inf), "leaf_rate"),
        (th.DensityTree(tau=np.inf), "tau"),
        (th.RandomForestClassifier(max_samples=np.inf), "max_samples"),
        (th.Ridge(alpha=10**400), "alpha"),
        (th.LogisticRegression(C=10**400), "C"),
        (th.Lasso(tol=10**400), "tol"),
        (th.RandomForestClassifier(max_depth=10**400), "max_depth"),
        (th.AdaBoostRegressor(learning_rate=np.inf), "learning_rate"),
        (th.RandomForestClassifier(random_state="1"), "random_state"),
        (th.LassoCV(cv=np.nan), "cv"),
        (th.RidgeClassifierCV(cv=-1), "cv"),
        (th.HistGradientBoostingRegressor(interaction_cst=1), "interaction_cst"),
        (th.GradientBoostingRegressor(learning_rate=1e19), "learning_rate"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_parameters_that_overflow_are_refused_by_name(model, parameter):
    with pytest.raises(th.errors.ParameterError, match=rf"\b{parameter}\b") as refused:
        model.fit(X, targets(model))
    assert len(str(refused.value)) < 500


def test_targets_and_labels_of_400_digits():
    with pytest.raises(th.errors.DataError, match=r"y holds a number at row 1 that is too large"):
        th.LinearRegression().fit(X[:3], [1, 10**400, 2])
    with pytest.raises(th.errors.DataError, match="X holds a number at row 0, column 1"):
        th.LinearRegression().fit([[1, 10**400], [2, 3]], [1, 2])
    with pytest.raises(th.errors.DataError, match=r"label at row 1 .* more than 64 bits"):
        th.LogisticRegression().fit(X[:4], [1, 10**400, 10**400, 1])


WORDS = np.where(LABELS == 1, "yes", "no")
PANDAS = {
    "Int64": (pd.Series(LABELS, dtype="Int64"), np.int64),
    "boolean": (pd.Series(LABELS == 1, dtype="boolean"), np.bool_),
    "int64[pyarrow]": (pd.Series(LABELS, dtype="int64[pyarrow]"), np.int64),
    "string": (pd.Series(WORDS, dtype="string"), None),
    "category": (pd.Series(WORDS, dtype="category"), None),
    "category of numbers": (pd.Series(LABELS).astype("category"), np.int64),
    "table": (pd.DataFrame({"y": pd.Series(LABELS, dtype="Int64")}), np.int64),
    "Python int": (np.array(LABELS.tolist(), dtype=object), np.int64),
    "Python bool": (np.array((LABELS == 1).tolist(), dtype=object), np.bool_),
}


@pytest.mark.parametrize("name", [name for name in KINDS if is_classifier(example(name))])
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_of_pandas_come_back_as_they_are(name):
    for case, (labels, dtype) in PANDAS.items():
        model = example(name)
        if "n_estimators" in model.get_params(deep=False):
            model.set_params(n_estimators=3)
        predicted = model.fit(suited(model), labels).predict(suited(model))
        known = set(np.asarray(labels).ravel().tolist())
        assert set(predicted.tolist()) <= known, case
        assert dtype is None or predicted.dtype == dtype, case
        if isinstance(labels, pd.Series):
            labels = labels.copy()
            labels.iloc[3] = pd.NA
            with pytest.raises(th.errors.DataError, match="row 3"):
                example(name).fit(X, labels)


@pytest.mark.parametrize("role", ["target", "weight"])
def test_scans_of_no_column_are_refused(tmp_path, role):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n1,2,3\n4,5,7\n")
    with pytest.raises(th.errors.DataError, match=rf"{role}=\[\] names no column"):
        th.scan(path, **{"target": "y", role: []})


class Interrupt:
    """A callback that raises KeyboardInterrupt at the end of its k-th task, or counts them."""

    def __init__(self, at=None):
        self.at, self.tasks = at, 0

    def setup(self, *args, **options):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, *args, **options):
        self.tasks += 1
        if self.tasks == self.at:
            raise KeyboardInterrupt


def interrupted(name, at=None):
    """The estimator after an interrupt, and the number of tasks that had ended."""
    model, callback = example(name), Interrupt(at)
    if "n_estimators" in model.get_params(deep=False):
        model.set_params(n_estimators=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.set_callbacks(callback).fit(X, targets(model))
        except KeyboardInterrupt:
            assert callback.tasks >= at
    return model, callback.tasks


WATCHED = [name for name in KINDS if hasattr(example(name), "set_callbacks")]
NEEDS_ALL_MEMBERS = ("BayesianModelAveraging", "Stacking")
"""They combine their members once all are fitted: before, there is no model to keep."""


@pytest.mark.parametrize("name", WATCHED)
def test_an_interrupt_in_any_callback_keeps_the_model(name):
    _, tasks = interrupted(name)
    for at in {tasks} if name.startswith(NEEDS_ALL_MEMBERS) else {1, max(1, tasks - 1), tasks}:
        model, _ = interrupted(name, at)
        assert np.isfinite(answer(model, X)).all(), f"interrupted at task {at} of {tasks}"


@pytest.mark.parametrize(("odd", "words"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_a_loss_that_is_not_finite_at_the_start_is_named_with_its_row(odd, words):
    class Broken(th.losses.Squared):
        name = "broken"

        def value(self, y, z):
            return np.where(y > 50, odd, super().value(y, z))

    y = Y.copy()
    y[7] = 100.0
    with pytest.raises(
        th.errors.DataError, match=rf"loss 'broken' is {words} at the start, first in row 7 \(y = "
    ):
        th.LinearModel(Broken(), "none", solver="lbfgs").fit(X, y)


def test_divergence_is_not_blamed_on_max_iter():
    model = th.LinearModel(
        "squared", "none", solver=th.optimizers.GradientDescent(step=1e3), max_iter=5000
    )
    with pytest.warns(ConvergenceWarning, match="no longer finite") as warned:
        model.fit(X, Y)
    text = str(warned[0].message)
    assert "The loss overflowed" in text
    assert "max_iter" not in text


@pytest.mark.parametrize("loss", ["hinge", "crammer_singer"])
@pytest.mark.filterwarnings("ignore:LinearModel. the maximum number:UserWarning")
def test_subgradients_find_their_way_on_columns_of_any_size(loss):
    rows = np.random.default_rng(2).standard_normal((200, 3))
    labels = np.argmax(rows, axis=1) if loss == "crammer_singer" else rows @ [1.0, 1.0, -1.0] > 0
    scores = []
    for scale in ([1.0, 1.0, 1.0], [1.0, 1e3, 1e-3], [1e3, 1e3, 1e3]):
        model = th.LinearModel(loss, "none").fit(rows * scale, labels)
        assert (abs(model.coef_) > 0).any()
        scores.append(np.mean(model.predict(rows * scale) == labels))
    np.testing.assert_allclose(scores, scores[0], atol=0.03)
    assert min(scores) > 0.9
