"""Contributions: Shapley values by their definition, additive, the same for any thread count."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import thetahat as th


def data(n=300, missing=0.05):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5))
    y = X @ [1.0, 2.0, -1.0, 0.5, 0.0] + X[:, 0] * X[:, 1]
    X[random.random(X.shape) < missing] = np.nan
    return X, y


def known(tree, x, columns, node=0):
    """The mean prediction of a tree where only some columns of x are known."""
    left, column = tree.left[node], tree.feature[node]
    if left < 0:
        return tree.values[node]
    if column in columns:
        missing = tree.missing_left[node]
        goes_left = missing if np.isnan(x[column]) else x[column] <= tree.threshold[node]
        return known(tree, x, columns, left if goes_left else left + 1)
    weight = tree.weight[[left, left + 1]]
    answers = known(tree, x, columns, left), known(tree, x, columns, left + 1)
    return (weight[0] * answers[0] + weight[1] * answers[1]) / weight.sum()


def by_definition(tree, x):
    d = len(x)
    found = np.zeros((d, tree.values.shape[1]))
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            share = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            for columns in itertools.combinations(others, size):
                with_j = known(tree, x, {*columns, j})
                found[j] += share * (with_j - known(tree, x, set(columns)))
    return found


@pytest.mark.parametrize("depth", [1, 2, 6, None])
def test_trees_by_definition(depth):
    X, y = data()
    model = th.DecisionTreeRegressor(max_depth=depth).fit(X, y)
    found = th.explain(model, X)
    for i in range(4):
        expected = by_definition(model.tree_, X[i])[:, 0]
        np.testing.assert_allclose(found.values[i], expected, atol=1e-12)


def test_classes_by_definition():
    X, y = data()
    labels = np.digitize(y, [-1.0, 1.0])
    model = th.DecisionTreeClassifier(max_depth=5).fit(X, labels)
    found = th.explain(model, X[:3])
    for i in range(3):
        np.testing.assert_allclose(found.values[i], by_definition(model.tree_, X[i]), atol=1e-12)
    assert found.outputs == [0, 1, 2]
    np.testing.assert_allclose(found.predictions, model.predict_proba(X[:3]), atol=1e-12)


X, Y = data()
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-1.0, 1.0])]
FULL = np.nan_to_num(X)
MODELS = {
    "tree": (th.DecisionTreeRegressor(), X, Y, "predict"),
    "extra tree": (th.ExtraTreeRegressor(random_state=0), X, Y, "predict"),
    "forest": (th.RandomForestRegressor(20, random_state=0), X, Y, "predict"),
    "forest of classes": (
        th.RandomForestClassifier(20, random_state=0),
        X,
        LABELS,
        "predict_proba",
    ),
    "forest of votes": (
        th.RandomForestClassifier(20, voting="hard", random_state=0),
        X,
        LABELS,
        "predict_proba",
    ),
    "two targets": (
        th.RandomForestRegressor(9, random_state=0),
        X,
        np.column_stack([Y, -Y]),
        "predict",
    ),
    "boosting": (th.HistGradientBoostingRegressor(max_iter=30), X, Y, "predict"),
    "boosted classes": (
        th.HistGradientBoostingClassifier(max_iter=10),
        X,
        LABELS,
        "decision_function",
    ),
    "two classes": (
        th.HistGradientBoostingClassifier(max_iter=10),
        X,
        LABELS == "low",
        "decision_function",
    ),
    "gradient boosting": (th.GradientBoostingRegressor(n_estimators=20), FULL, Y, "predict"),
    "line": (th.LinearRegression(), FULL, Y, "predict"),
    "lasso": (th.Lasso(0.1), FULL, Y, "predict"),
    "logistic": (th.LogisticRegression(), FULL, LABELS, "decision_function"),
    "two classes of a line": (th.LogisticRegression(), FULL, Y > 0, "decision_function"),
}


@pytest.mark.parametrize("case", MODELS)
def test_contributions_add_up_to_the_prediction(case):
    model, rows, y, method = MODELS[case]
    model = model.fit(rows, y)
    found = th.explain(model, rows)
    expected = getattr(model, method)(rows)
    np.testing.assert_allclose(found.predictions, expected, rtol=1e-10, atol=1e-10)
    assert found.columns == [0, 1, 2, 3, 4]
    assert found.importance.shape == (5,)


def test_same_bits_for_any_number_of_threads():
    model = th.RandomForestRegressor(10, random_state=0).fit(X, Y)
    with th.config(threads=1):
        one = th.explain(model, X).values
    with th.config(threads=2):
        assert np.array_equal(th.explain(model, X).values, one)


def test_linear_models_compare_with_the_mean_of_the_background():
    model = th.LinearRegression().fit(FULL, Y)
    found = th.explain(model, FULL[:5], background=FULL)
    np.testing.assert_allclose(found.values, (FULL[:5] - FULL.mean(axis=0)) * model.coef_)
    assert found.base == pytest.approx(model.predict(FULL).mean())
    sparse = th.explain(model, scipy.sparse.csr_array(FULL[:5]), background=FULL)
    np.testing.assert_allclose(sparse.values, found.values)


def test_columns_that_the_trees_do_not_use_contribute_nothing():
    model = th.DecisionTreeRegressor(max_depth=1).fit(X, Y)
    (used,) = {int(each) for each in model.tree_.feature if each >= 0}
    contributes = (th.explain(model, X).values != 0).any(axis=0)
    assert np.flatnonzero(contributes).tolist() == [used]


def test_categories_and_names():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c"], 200)
    frame = pandas.DataFrame({"kind": pandas.Categorical(kind), "size": random.normal(size=200)})
    y = (kind == "b") * 2.0 + frame["size"].to_numpy() * 0.1
    model = th.HistGradientBoostingRegressor(categorical_features="from_dtype").fit(frame, y)
    found = th.explain(model, frame)
    assert found.columns == ["kind", "size"]
    np.testing.assert_allclose(found.predictions, model.predict(frame), atol=1e-10)
    assert found.importance[0] > 3 * found.importance[1]
    assert "kind" in str(found).splitlines()[1]
    assert found.to_frame().shape == (200, 3)


def test_pipelines_are_explained_after_their_preparation():
    model = make_pipeline(StandardScaler(), th.LinearRegression()).fit(FULL, Y)
    found = th.explain(model, FULL)
    np.testing.assert_allclose(found.predictions, model.predict(FULL), atol=1e-10)
    assert found.columns == ["x0", "x1", "x2", "x3", "x4"]


def test_nested_pipelines_and_searches_are_unwrapped():
    search = GridSearchCV(th.Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
    inner = make_pipeline(PolynomialFeatures(2, include_bias=False), search)
    model = make_pipeline(StandardScaler(), inner).fit(FULL, Y)
    found = th.explain(model, FULL[:7], background=FULL)
    np.testing.assert_allclose(found.predictions, model.predict(FULL[:7]), atol=1e-10)
    assert len(found.columns) == 20
    assert found.columns[5:7] == ["x0^2", "x0 x1"]
    outer = GridSearchCV(make_pipeline(StandardScaler(), th.DecisionTreeRegressor()), {}, cv=2)
    found = th.explain(outer.fit(FULL, Y), FULL)
    np.testing.assert_allclose(found.predictions, outer.predict(FULL), atol=1e-10)
    with pytest.raises(th.errors.CapabilityError, match="not for KNeighborsRegressor"):
        th.explain(make_pipeline(make_pipeline(th.KNeighborsRegressor())).fit(FULL, Y), FULL)


def test_trees_check_a_background_that_they_do_not_use():
    tree, boosted = th.DecisionTreeRegressor(), th.HistGradientBoostingRegressor(max_iter=3)
    for model in (tree, th.RandomForestRegressor(3), boosted):
        model.fit(FULL, Y)
        expected = th.explain(model, FULL[:5]).values
        assert np.array_equal(th.explain(model, FULL[:5], background=FULL).values, expected)
        for bad in (FULL[:, :4], FULL[0], "rows"):
            with pytest.raises(ValueError, match=r"features|2D|dense array|X"):
                th.explain(model, FULL[:5], background=bad)


def test_pictures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = th.explain(th.DecisionTreeClassifier(max_depth=4).fit(X, LABELS), X)
    assert found.plot().get_xlabel() == "contribution to the probability of middle"
    axes = found.plot(row=3, output="low")
    assert "on average" in axes.get_xlabel()
    assert len(axes.patches) == 5
    with pytest.raises(th.errors.ParameterError, match="no output 'none'"):
        found.plot(output="none")
    pyplot.close("all")


def test_refusals():
    with pytest.raises(th.errors.CapabilityError, match="not for KNeighborsRegressor"):
        th.explain(th.KNeighborsRegressor().fit(FULL, Y), FULL)
    with pytest.raises(th.errors.CapabilityError, match="oblique=2"):
        th.explain(th.DecisionTreeRegressor(oblique=2).fit(FULL, Y), FULL)
    started = th.GradientBoostingRegressor(init=th.LinearRegression(), n_estimators=3)
    with pytest.raises(th.errors.CapabilityError, match="start from a constant"):
        th.explain(started.fit(FULL, Y), FULL)
    with pytest.raises(ValueError, match="4 features"):
        th.explain(th.DecisionTreeRegressor().fit(FULL, Y), FULL[:, :4])


def test_one_row_needs_a_background_for_a_line():
    model = th.Ridge().fit(FULL, Y)
    with pytest.raises(th.errors.DataError, match="which has 1 row here"):
        th.explain(model, FULL[:1])
    assert (th.explain(model, FULL[:1], background=FULL).values != 0).all()


def test_the_logarithm_is_named():
    counts = np.floor(np.exp(np.clip(Y, -2, 2)))
    for model in (th.PoissonRegressor(), th.HistGradientBoostingRegressor("poisson", max_iter=5)):
        found = th.explain(model.fit(FULL, counts), FULL)
        assert found.response == "log of the prediction"
        np.testing.assert_allclose(np.exp(found.predictions), model.predict(FULL), rtol=1e-10)


def test_bad_rows_and_other_models():
    tree = th.DecisionTreeRegressor().fit(FULL, Y)
    for model in (tree, th.Ridge().fit(FULL, Y), th.RandomForestRegressor(3).fit(FULL, Y)):
        for rows in (FULL[0], None):
            with pytest.raises(ValueError, match=r"Expected 2D|dense array|X"):
                th.explain(model, rows)
    voters = th.AdaBoostClassifier(n_estimators=3).fit(FULL, Y > 0)
    with pytest.raises(th.errors.CapabilityError, match="not for AdaBoostClassifier"):
        th.explain(voters, FULL)
    piped = make_pipeline("passthrough", th.Ridge()).fit(FULL, Y)
    assert th.explain(piped, FULL).columns == [0, 1, 2, 3, 4]


class TestSampled:
    def test_contributions_add_up_and_approach_those_of_a_linear_model(self):
        X, y = data(missing=0.0)
        model = th.Ridge().fit(X, y)
        found = th.explain(model, X[:20], X, method="sampled", n_orders=400)
        np.testing.assert_allclose(found.predictions, model.predict(X[:20]), atol=1e-10)
        exact = th.explain(model, X[:20], X)
        error = np.abs(found.values - exact.values).max()
        assert error < 0.5 * np.abs(exact.values).mean()

    def test_any_classifier_and_a_table_with_text(self):
        pl = pytest.importorskip("polars")
        random = np.random.default_rng(0)
        x, word = random.normal(size=120), random.choice(["a", "b", "c"], 120)
        days = pl.Series(np.datetime64("2024-01-01") + random.integers(0, 99, 120))
        table = pl.DataFrame({"x": x, "word": word, "idle": days.cast(pl.Date)})
        y = np.where((x > 0) & (word != "c"), "yes", "no")
        learner = th.KNeighborsClassifier(n_neighbors=5)
        model = make_pipeline(th.TableVectorizer(), learner).fit(table, y)
        found = th.explain(model, table[:30], table, method="sampled")
        assert found.columns == ["x", "word", "idle"]
        assert found.outputs == ["no", "yes"]
        np.testing.assert_allclose(found.predictions, model.predict_proba(table[:30]), atol=1e-10)
        assert found.importance.argmin() == 2
        found.plot()

    def test_the_same_seed_gives_the_same_contributions(self):
        X, y = data(60, missing=0.0)
        model = th.KernelRidge(kernel="rbf").fit(X, y)
        seeds = (0, 0, 1)
        first, again, other = (
            th.explain(model, X[:5], X, method="sampled", n_orders=4, random_state=seed).values
            for seed in seeds
        )
        assert (first == again).all()
        assert (first != other).any()

    def test_the_base_is_the_mean_prediction_of_the_background(self):
        X, y = data(300, missing=0.0)
        model = th.KernelRidge(kernel="rbf").fit(X, y)
        found = th.explain(model, X[:7], X, method="sampled", n_orders=4)
        assert found.base == pytest.approx(model.predict(X).mean(), abs=1e-12)
        np.testing.assert_allclose(found.predictions, model.predict(X[:7]), atol=1e-10)

    @pytest.mark.parametrize("n_orders", [1, 4])
    def test_errors_are_not_common_to_all_rows(self, n_orders):
        X, y = data(300, missing=0.0)
        model = th.Ridge().fit(X, y)
        found = th.explain(model, X, method="sampled", n_orders=n_orders)
        error = found.values - th.explain(model, X).values
        assert np.abs(error.mean(axis=0)).max() < 0.1 * np.abs(error).mean()

    def test_a_column_that_is_not_used_contributes_nothing(self):
        X, y = data(100, missing=0.0)
        X[:, 2] = np.random.default_rng(1).standard_normal(100)
        used = ColumnTransformer([("used", "passthrough", [0, 1, 3, 4])])
        model = make_pipeline(used, th.KNeighborsRegressor()).fit(X, y)
        found = th.explain(model, X[:9], X, method="sampled", n_orders=6)
        np.testing.assert_allclose(found.values[:, 2], 0.0, atol=1e-12)

    def test_several_targets_are_all_explained(self):
        X, y = data(80, missing=0.0)
        model = th.LinearRegression().fit(X, np.column_stack([y, -2.0 * y]))
        found = th.explain(model, X[:6], X, method="sampled")
        assert found.outputs == [0, 1]
        np.testing.assert_allclose(found.predictions, model.predict(X[:6]), atol=1e-10)

    def test_tables_that_do_not_fit_each_other(self):
        pd = pytest.importorskip("pandas")
        X, y = data(60, missing=0.0)
        model = th.Ridge().fit(X, y)
        frame = pd.DataFrame(X, columns=list("abcde"))
        named = th.Ridge().fit(frame, y)
        cases = [
            (model, X, X[:0], "background has shape"),
            (model, X[:0], X, "X has shape"),
            (model, X, X[:, :2], "X has the columns 0, 1"),
            (model, scipy.sparse.csr_array(X), X, "X is sparse"),
            (named, frame, X, "X is a DataFrame, but background is a ndarray"),
            (named, frame, frame.rename(columns={"a": "z"}), "background has z"),
        ]
        for fitted, rows, background, words in cases:
            with pytest.raises(th.errors.DataError, match=words):
                th.explain(fitted, rows, background, method="sampled")


@pytest.mark.parametrize("model", [None, "a", th.Ridge, 3])
@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_things_that_are_no_models_are_refused(model, method):
    with pytest.raises(th.errors.ParameterError, match=r"the model is .* not an estimator"):
        th.explain(model, np.eye(3), method=method)


def test_numbers_of_clusters_have_no_mean():
    X = data(missing=0.0)[0]
    with pytest.raises(th.errors.CapabilityError, match="neither a regressor nor a classifier"):
        th.explain(th.KMeans(2).fit(X), X, method="sampled")


def test_a_single_class_has_the_same_shape_by_both_methods():
    X = data(n=20, missing=0.0)[0]
    model = th.RandomForestClassifier(3).fit(X, np.zeros(20))
    exact, sampled = (th.explain(model, X, method=name) for name in ("exact", "sampled"))
    assert exact.values.shape == sampled.values.shape == (20, 5)
    assert exact.base == sampled.base == 1.0
