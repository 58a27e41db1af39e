"""Class weights that cannot be used are refused by every classifier with the same words."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = np.digitize(X[:, 0], [-0.5, 0.5])
BOTH = np.column_stack([Y, Y > 0]).astype(int)
MODELS = (
    th.DecisionTreeClassifier(),
    th.ExtraTreeClassifier(),
    th.RandomForestClassifier(n_estimators=2),
    th.HistGradientBoostingClassifier(max_iter=2),
    th.LogisticRegression(),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 1e200, None, "a", 1j])
def test_weights_must_be_numbers_of_a_size_that_adds_up(model, weight):
    with pytest.raises(ValueError, match=r"class_weight\[0\]=.* must be a number from 0 to 1e"):
        model.set_params(class_weight={0: weight}).fit(X, Y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_some_row_must_count(model):
    with pytest.raises(ValueError, match="gives every row of positive sample weight the weight 0"):
        model.set_params(class_weight={0: 0, 1: 0, 2: 0}).fit(X, Y)
    # Regressions of classes look at the sample weights first.
    with pytest.raises(ValueError, match=r"sample weight the weight 0|belong to one class"):
        model.set_params(class_weight={2: 0}).fit(X, Y, sample_weight=Y == 2)


def test_some_row_of_several_outputs_must_count():
    for zero in ([{0: 0}, {1: 0}], [{0: 0, 1: 0, 2: 0}, {0: 1}]):
        with pytest.raises(ValueError, match="the weight 0"):
            th.DecisionTreeClassifier(class_weight=zero).fit(X, BOTH)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.uint8, bool])
def test_numbers_of_all_kinds_are_weights(kind):
    tree = th.DecisionTreeClassifier(max_depth=2, class_weight={0: kind(1), 1: 0, 2: 1}).fit(X, Y)
    assert set(tree.predict(X)) == {0, 2}
