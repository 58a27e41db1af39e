"""Single-row steps on bad input: refused or reported, with a remedy."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.stochastic.sgd_data import (
    CLASSES,
    SIGNS,
    D,
    InBlocks,
    N,
    X,
    Y,
    assert_same,
    parameters,
)
from thetahat.data.views import reweighted


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"alpha": -1.0}, "alpha=-1.0 must be a number ≥ 0"),
        ({"l1_ratio": 1.5}, "l1_ratio=1.5 must be a number from 0 to 1"),
        ({"l1_ratio": None, "penalty": "elasticnet"}, "needs l1_ratio"),
        ({"penalty": "l3"}, "penalty='l3' must be one of 'l2'"),
        ({"learning_rate": "constant", "eta0": 0.0}, "eta0=0.0 must be a number > 0"),
        ({"learning_rate": "slow"}, "learning_rate='slow' must be one of"),
        ({"learning_rate": "optimal", "alpha": 0.0}, "alpha must be > 0"),
        ({"learning_rate": "pa1", "loss": "huber"}, "learning_rate='pa1' is only defined for"),
        ({"loss": "hing"}, "Did you mean 'hinge'"),
        ({"loss": th.losses.ZeroOne()}, "has no derivative"),
        ({"max_iter": 0}, "whole number ≥ 1"),
        ({"validation_fraction": 1.0}, "between 0 and 1"),
        ({"average": -3}, "average=-3"),
    ],
)
@pytest.mark.parametrize("kind", [th.SGDClassifier, th.SGDRegressor])
def test_parameters_out_of_range(kind, parameters, rule):
    with pytest.raises(th.errors.ThetahatError, match=rule):
        kind(**parameters).fit(X, SIGNS)


def test_the_first_partial_fit_names_the_classes():
    with pytest.raises(th.errors.DataError, match="classes must be passed on the first call"):
        th.SGDClassifier().partial_fit(X, CLASSES)
    with pytest.raises(th.errors.DataError, match="is a single class"):
        th.SGDClassifier().partial_fit(X, CLASSES, classes=["a"])
    model = th.SGDClassifier().partial_fit(X, CLASSES, classes=["a", "b", "c"])
    with pytest.raises(th.errors.DataError, match="not the same as on last call"):
        model.partial_fit(X, CLASSES, classes=["a", "b"])
    before = parameters(model)
    with pytest.raises(
        th.errors.DataError, match=r"1 of 2 labels belong to no class: 'd' .*first call"
    ):
        model.partial_fit(X[:2], ["a", "d"])
    with pytest.raises(ValueError, match="X has 3 features, but SGDClassifier is expecting 5"):
        model.partial_fit(X[:, :3], CLASSES)
    np.testing.assert_array_equal(parameters(model), before)
    model.partial_fit(X[:2], ["a", "a"])  # not every class need come every time


def test_partial_fit_refuses_what_needs_all_rows():
    with pytest.raises(th.errors.ParameterError, match="early_stopping should be False"):
        th.SGDRegressor(early_stopping=True).partial_fit(X, Y)
    with pytest.raises(
        th.errors.ParameterError, match="'balanced' is not supported for partial_fit"
    ):
        th.SGDClassifier(class_weight="balanced").partial_fit(X, SIGNS, classes=[-1, 1])


@pytest.mark.parametrize("kind", [th.SGDClassifier, th.Perceptron])
def test_one_class_only(kind):
    with pytest.raises(th.errors.DataError, match="one class only, 'a'"):
        kind().fit(X, np.full(N, "a"))


def test_text_and_boolean_labels():
    text = th.SGDClassifier(random_state=0).fit(X, np.where(SIGNS > 0, "yes", "no"))
    truth = th.SGDClassifier(random_state=0).fit(X, SIGNS > 0)
    assert_same(text, truth)
    assert truth.predict(X).dtype == bool
    assert set(text.predict(X)) == {"yes", "no"}


def test_steps_that_diverge_are_reported_with_a_remedy():
    with pytest.warns(ConvergenceWarning, match=r"diverged.*StandardScaler.*eta0 \(now 0.01\)"):
        model = th.SGDRegressor(random_state=0).fit(1e3 * X, Y)
    assert np.isfinite(model.coef_).all()
    assert model.solution_.outcome is th.results.Outcome.DIVERGED
    with pytest.raises(
        th.errors.DataError, match=r"diverged in epoch 1: the coefficients overflow.*Scale"
    ):
        th.SGDRegressor(random_state=0, eta0=1e300).fit(1e3 * X, Y)
    own = th.loss(lambda y, z: (z - y) ** 4)
    with pytest.raises(th.errors.DataError, match="diverged in epoch 1"):
        th.SGDRegressor(own, random_state=0, eta0=1e150, max_iter=1).fit(1e3 * X, Y)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_coefficients_that_overflow_single_precision_are_refused(method):
    model = th.SGDRegressor(random_state=0, eta0=1e27, learning_rate="constant")
    with pytest.raises(th.errors.DataError, match=r"overflow float32.*lower eta0 \(now 1e\+27\)"):
        getattr(model, method)(X.astype(np.float32), Y.astype(np.float32))
    assert not hasattr(model, "coef_")


def test_too_few_rows_to_hold_some_out():
    with pytest.raises(th.errors.DataError, match="one row of each class"):
        th.SGDClassifier(early_stopping=True).fit(X[:10], CLASSES[:10])
    with pytest.raises(th.errors.DataError, match="hold out 1 of 1 row;"):
        th.SGDRegressor(early_stopping=True).fit(X[:1], Y[:1])
    blocks = InBlocks(rows=X, targets=Y, n_features=D)
    with pytest.raises(th.errors.CapabilityError, match="early_stopping=False"):
        th.SGDRegressor(early_stopping=True).fit(blocks)


def test_starts_of_the_wrong_shape():
    with pytest.raises(th.errors.DataError, match=r"coef_init has shape \(2,\).*needs \(3, 5\)"):
        th.SGDClassifier().fit(X, CLASSES, coef_init=[0.0, 1.0])
    warm = th.SGDClassifier(warm_start=True, random_state=0).fit(X, SIGNS)
    with pytest.raises(
        th.errors.DataError, match="warm_start=True needs the classes of the previous fit"
    ):
        warm.fit(X, CLASSES)


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values_are_named(early_stopping, rows, value):
    bad = X.copy()
    bad[17, 2] = value
    with pytest.raises(th.errors.DataError, match=r"column 2.*row 17"):
        th.SGDRegressor(early_stopping=early_stopping).fit(rows(bad), Y)
    with pytest.raises(th.errors.DataError, match=r"column 2.*row 17"):
        th.SGDClassifier().partial_fit(rows(bad), CLASSES, classes=["a", "b", "c"])


def test_all_weights_zero():
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        th.SGDRegressor().fit(X, Y, sample_weight=np.zeros(N))
    blocks = InBlocks(rows=X, targets=Y, n_features=D)
    weightless = reweighted(blocks, lambda block: np.zeros(block.n_rows))
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        th.SGDRegressor().fit(weightless)


def test_class_losses_are_for_classes():
    with pytest.raises(th.errors.ParameterError, match="Use SGDClassifier"):
        th.SGDRegressor("softmax_cross_entropy").fit(X, Y)
    with pytest.raises(th.errors.DataError, match="are negative"):
        th.SGDRegressor("poisson").fit(X, Y)
