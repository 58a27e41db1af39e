"""Linear support vector machines with losses of one's own."""

import numpy as np
import pytest

import thetahat as th


def test_a_loss_of_ones_own_is_the_margin_loss():
    random = np.random.default_rng(2)
    rows = random.standard_normal((200, 3))
    y = np.argmax(rows @ random.standard_normal((3, 3)) + random.gumbel(size=(200, 3)), axis=1)
    square = th.loss(
        lambda y, z: np.maximum(1 - y * z, 0.0) ** 2, targets="signs", name="my squared hinge"
    )
    for labels in (y, y == 1):
        own = th.LinearSVC(loss=square, C=0.5, tol=1e-7).fit(rows, labels)
        known = th.LinearSVC(loss="squared_hinge", C=0.5, tol=1e-7).fit(rows, labels)
        np.testing.assert_allclose(own.coef_, known.coef_, rtol=1e-4)
        np.testing.assert_allclose(own.intercept_, known.intercept_, rtol=1e-4)
        assert own.solution_.outcome.success


def test_margin_losses_of_the_library_have_the_same_objective():
    random = np.random.default_rng(3)
    rows = random.standard_normal((150, 2))
    y = np.where(rows.sum(axis=1) + random.logistic(size=150) > 0, "yes", "no")
    model = th.LinearSVC(loss=th.losses.SignLogistic(), C=2.0, fit_intercept=False, tol=1e-8)
    expected = th.LogisticRegression(C=2.0, fit_intercept=False, tol=1e-8).fit(rows, y)
    np.testing.assert_allclose(model.fit(rows, y).coef_, expected.coef_, rtol=1e-5)
    assert set(model.predict(rows)) == {"yes", "no"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": th.losses.Logistic()}, "targets 0 or 1, but these are −1 and"),
        ({"loss": th.losses.SignLogistic(), "C": np.inf}, "always use the hinge loss"),
        (
            {"loss": th.losses.SignLogistic(), "multi_class": "crammer_singer"},
            "Use multi_class='ovr'",
        ),
        ({"loss": "log"}, "'hinge', 'squared_hinge', or a loss such as"),
    ],
)
def test_losses_that_do_not_fit_are_refused(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LinearSVC(**options).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("n", "solver"), [(60, "dual"), (700, "augmented")])
def test_few_rows_of_many_columns_are_visited_one_by_one(n, solver):
    """Otherwise each step of 60 rows would solve a system of 101 columns."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 100))
    y = X[:, 0] + random.standard_normal(n) > 0
    model = th.LinearSVC(loss="hinge", C=0.1).fit(X, y)
    assert solver in model.solution_.solver
    exact = th.LinearSVC(loss="hinge", C=0.1, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.solution_.value, exact.solution_.value, rtol=1e-4)
