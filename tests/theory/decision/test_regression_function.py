"""E[Y | X] as the best prediction, and empirical risk minimisation that approaches it.

All cells of a known joint table are rows, weighted by their probability. The empirical risk is then
the true risk, and a learner finds the best function of its class.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

import thetahat as th
from thetahat import theory


def joint(seed=0):
    p = np.random.default_rng(seed).dirichlet(np.full(24, 0.7)).reshape(6, 4)
    return theory.BayesTable(p, {"x": range(6), "y": [-1.0, 0.5, 2.0, 4.0]})


def rows(table):
    x, y = np.meshgrid(table.axes["x"], table.axes["y"], indexing="ij")
    weight = 1000 * table.probabilities.ravel()
    return x.reshape(-1, 1).astype(float), y.ravel(), weight


def of_model(model):
    return lambda x: model.predict(np.asarray(x, dtype=float)[:, None])


def test_best_constant_and_best_function():
    table = joint()
    found = theory.regression_function(table, "y", given="x")
    p, y = table.probabilities, np.array(table.axes["y"])
    np.testing.assert_allclose(found.mean, p @ y / p.sum(axis=1))
    assert found.constant == pytest.approx(p.sum(axis=0) @ y)
    assert found.constant_risk == pytest.approx(p.sum(axis=0) @ (y - found.constant) ** 2)
    assert found.risk < found.constant_risk


def test_the_risk_of_every_function_is_the_smallest_plus_its_distance():
    table, random = joint(), np.random.default_rng(1)
    found = theory.regression_function(table, "y", given="x")
    for _ in range(20):
        f = random.normal(size=6)
        y = np.array(table.axes["y"])
        expected = (table.probabilities * (y - f[:, None]) ** 2).sum()
        assert found.risk_of(lambda x, f=f: f) == pytest.approx(expected)
        assert found.excess_risk(lambda x, f=f: f) >= 0
    assert found.risk_of(lambda x: found.constant) == pytest.approx(found.constant_risk)


def test_the_regression_function_of_a_normal_density_is_a_line():
    grid = np.linspace(-7, 7, 281)

    def density(x, y):
        return np.exp(-(x**2 - 1.2 * x * y + y**2) / (2 * (1 - 0.36)))

    for axes in (("x", "y"), ("y", "x")):
        on_grid = theory.GridPosterior(dict.fromkeys(axes, grid), density)
        found = theory.regression_function(on_grid, "y", given="x")
        inner = np.abs(found.x) < 2
        np.testing.assert_allclose(found.mean[inner], 0.6 * found.x[inner], atol=1e-4)
        np.testing.assert_allclose(found.variance[inner], 0.64, atol=1e-3)
        assert found.risk == pytest.approx(0.64, abs=1e-3)


def test_minimisers_over_constants_lines_and_all_functions():
    table = joint()
    X, y, weight = rows(table)
    found = theory.regression_function(table, "y", given="x")
    constant = th.ConstantRegressor().fit(X, y, sample_weight=weight)
    assert found.risk_of(of_model(constant)) == pytest.approx(found.constant_risk)
    tree = th.DecisionTreeRegressor().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(of_model(tree)(found.x), found.mean)
    line = th.LinearRegression().fit(X, y, sample_weight=weight)
    slope = np.polyfit(found.x.astype(float), found.mean, 1, w=np.sqrt(found.weight))
    np.testing.assert_allclose(of_model(line)(found.x), np.polyval(slope, found.x))
    assert found.risk < found.risk_of(of_model(line)) < found.constant_risk
    encoder = OneHotEncoder().fit(X)
    free = th.LinearRegression(fit_intercept=False).fit(encoder.transform(X), y, weight)
    np.testing.assert_allclose(
        free.predict(encoder.transform(np.arange(6.0)[:, None])), found.mean, atol=1e-8
    )


TRIPLES = {
    "lines, squared loss, QR": (th.LinearRegression(solver="qr"), "line"),
    "lines, squared loss, any solver": (
        th.LinearModel(loss="squared", penalty=None, tol=1e-10),
        "line",
    ),
    "lines, squared loss, L-BFGS": (
        th.LinearModel(loss="squared", penalty=None, solver=th.optimizers.LBFGS(), tol=1e-10),
        "line",
    ),
    "lines, squared loss, Newton": (
        th.LinearModel(loss="squared", penalty=None, solver=th.optimizers.Newton(), tol=1e-10),
        "line",
    ),
    "kernel expansions, squared loss": (
        th.KernelModel(loss="squared", kernel=th.kernels.RBF(0.3), alpha=1e-10),
        "all",
    ),
    "sums of trees, squared loss": (
        th.GradientBoostingRegressor(n_estimators=400, max_depth=3, learning_rate=0.3),
        "all",
    ),
}


@pytest.mark.parametrize("name", TRIPLES)
def test_function_class_loss_and_solver_can_be_chosen_one_by_one(name):
    """The class of functions decides what is reached, and the solver does not."""
    model, functions = TRIPLES[name]
    table = joint()
    X, y, weight = rows(table)
    model.fit(X, y, sample_weight=weight)
    found = theory.regression_function(table, "y", given="x")
    line = th.LinearRegression().fit(X, y, sample_weight=weight)
    expected = found.risk_of(of_model(line)) if functions == "line" else found.risk
    assert found.risk_of(of_model(model)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "model",
    [
        th.LinearModel(penalty=None),
        th.KernelModel(alpha=1e-8),
        th.HistGradientBoostingRegressor(max_iter=200, min_samples_leaf=1),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize(("loss", "best"), [("squared", 11.5 / 4.5), ("absolute", 1.0)])
def test_another_loss_has_another_best_function(model, loss, best):
    """Absolute loss: the median instead of the mean."""
    X, y, weight = np.zeros((3, 1)), np.array([0.0, 1.0, 10.0]), np.array([2.0, 1.5, 1.0])
    name = {"squared": "squared_error", "absolute": "absolute_error"}
    boosted = isinstance(model, th.HistGradientBoostingRegressor)
    model = clone(model).set_params(loss=name[loss] if boosted else loss)
    assert model.fit(X, y, sample_weight=weight).predict(X)[0] == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "y", "x"), "must be a BayesTable or a GridPosterior"),
        ((joint(), "z", "x"), "no variable 'z'"),
        ((joint(), "y", "y"), "Name two variables"),
        ((theory.BayesTable([[1.0]], {"x": [0], "y": ["a"]}), "y", "x"), "array of real numbers"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        theory.regression_function(*arguments)
    with pytest.raises(ValueError, match="Return one prediction for each"):
        theory.regression_function(joint(), "y", "x").risk_of(lambda x: [1.0, 2.0])
