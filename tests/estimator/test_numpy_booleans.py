"""A boolean of NumPy is a boolean: the fit is the same, bit for bit."""

import numpy as np
import pytest

import thetahat as th

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(
    ("model", "name", "fitted"),
    [
        (th.DictionaryLearning(2, random_state=0), "positive_code", "components_"),
        (th.MiniBatchDictionaryLearning(2, random_state=0), "positive_code", "components_"),
        (th.SGDClassifier(random_state=0), "fit_intercept", "coef_"),
        (th.SGDRegressor(random_state=0), "fit_intercept", "coef_"),
        (th.Perceptron(random_state=0), "fit_intercept", "coef_"),
        (th.Lasso(alpha=0.01), "precompute", "coef_"),
        (th.ElasticNet(alpha=0.01), "precompute", "coef_"),
        (th.LassoCV(alphas=[0.1, 0.01], cv=2), "precompute", "coef_"),
        (th.Lars(), "fit_path", "coef_"),
        (th.LassoLars(alpha=0.01), "positive", "coef_"),
        (th.LassoLarsIC(), "positive", "coef_"),
    ],
    ids=lambda part: type(part).__name__ if hasattr(part, "fit") else str(part),
)
def test_a_boolean_of_numpy_gives_the_same_fit(model, name, fitted, value):
    X = np.abs(np.random.default_rng(0).standard_normal((40, 4)))
    y = (X[:, 0] > 0.6).astype(int)
    expected, found = (
        getattr(model.set_params(**{name: each}).fit(X, y), fitted).copy()
        for each in (value, np.bool_(value))
    )
    np.testing.assert_array_equal(found, expected)


def test_precompute_false_of_numpy_is_refused_where_the_gram_matrix_is_needed():
    model = th.OrthogonalMatchingPursuit(positive=True, precompute=np.bool_(False))
    with pytest.raises(th.errors.CapabilityError, match="precompute=False"):
        model.fit(np.eye(4)[:, :2], np.arange(4.0))
