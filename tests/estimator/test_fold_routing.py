"""Groups reach the splitter of every cross-validated linear model, as in scikit-learn."""

import numpy as np
import pytest
import sklearn
import sklearn.linear_model
from sklearn.model_selection import GroupKFold

import thetahat as th
from thetahat.foundation.errors import ParameterError

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 4))
Y = X @ [1.0, 0.0, -2.0, 0.0] + RANDOM.standard_normal(60)
GROUPS = RANDOM.permutation(np.arange(60) % 6)
MODELS = [
    *("LassoCV", "ElasticNetCV", "RidgeCV", "OrthogonalMatchingPursuitCV", "RidgeClassifierCV"),
    "LogisticRegressionCV",
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", MODELS)
def test_groups_reach_the_splitter(name):
    y = Y > 0 if name in ("RidgeClassifierCV", "LogisticRegressionCV") else Y
    own = list(GroupKFold(3).split(X, y, GROUPS))
    expected = getattr(th, name)(cv=own).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        model = getattr(th, name)(cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
        peer = getattr(sklearn.linear_model, name)(cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_allclose(np.ravel(model.coef_), np.ravel(peer.coef_), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", MODELS)
def test_groups_without_routing_are_refused(name):
    y = Y > 0 if name in ("RidgeClassifierCV", "LogisticRegressionCV") else Y
    with pytest.raises(
        th.errors.ParameterError,
        match=r"groups can only be passed on to the splitter.*enable_metadata",
    ):
        getattr(th, name)(cv=GroupKFold(3)).fit(X, y, groups=GROUPS)


@pytest.mark.parametrize(
    "model",
    [
        th.RidgeCV(cv=[]),
        th.RidgeClassifierCV(cv=[]),
        th.LassoCV(cv=[]),
        th.LogisticRegressionCV(cv=[], use_legacy_attributes=False),
        th.OrthogonalMatchingPursuitCV(cv=[]),
        th.BestSubset(criterion="cv", cv=[]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_folds_are_refused(model):
    rows = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ParameterError, match=r"cv=\[\] gives no folds"):
        model.fit(rows, (rows[:, 0] > 0).astype(float))
