"""1, 1.0, np.int64(1) and np.float32(1) are one parameter, for every linear estimator."""

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier

import thetahat as th
from thetahat.catalog import estimators

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 3))
Y = X @ [1.0, 2.0, -1.0] + RANDOM.standard_normal(40)
LINEAR = {
    name: kind
    for name, kind in estimators().items()
    if kind.__module__.startswith("thetahat.models.linear.")
}
SCHEDULES = ("constant", "optimal", "invscaling", "adaptive")
NUMBERS = (0, 1, 0.5)
KINDS = (np.int64, np.float32)


def settings(model):
    """Numeric parameters with values in their range, under every schedule where there are some."""
    has_schedule = "learning_rate" in model.get_params()
    for name, value in model.get_params(deep=False).items():
        schedules = SCHEDULES if has_schedule and name in ("alpha", "eta0") else (None,)
        rule = type(model)._ranges.get(name)
        if isinstance(value, float) and rule is not None:
            for number in NUMBERS:
                if rule.holds(number) and rule.holds(float(number)):
                    for schedule in schedules:
                        yield name, number, schedule


def outcome(kind, name, number, schedule, y):
    """θ, or the words of the refusal."""
    model = kind._example().set_params(**{name: number})
    if schedule is not None:
        model.set_params(learning_rate=schedule)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except th.errors.ThetahatError as refused:
            return type(refused)
    found = getattr(model, "estimator_", model)
    return getattr(found, "coef_", getattr(found, "mean_", None))


@pytest.mark.parametrize("name", LINEAR)
def test_whole_numbers_and_numpy_scalars_are_numbers(name):
    kind = LINEAR[name]
    y = (Y > 0).astype(float) if is_classifier(kind._example()) else np.abs(np.round(Y))
    if name.startswith("MultiTask"):
        y = np.column_stack([Y, -Y])
    for parameter, number, schedule in settings(kind._example()):
        expected = outcome(kind, parameter, float(number), schedule, y)
        others = [number] if number == int(number) else []
        others += [other(number) for other in KINDS if other(number) == number != 0]
        for other in others:
            found = outcome(kind, parameter, other, schedule, y)
            case = f"{name}({parameter}={other!r}, learning_rate={schedule!r})"
            if isinstance(expected, type):
                assert found is expected, case
            else:
                # A float32 may leave the digits that it has.
                digits = 1e-6 if isinstance(other, np.float32) else 1e-12
                np.testing.assert_allclose(found, expected, rtol=digits, err_msg=case)


@pytest.mark.parametrize("kind", [th.Perceptron, th.SGDClassifier, th.SGDRegressor])
def test_batches_take_a_whole_number_for_the_rate(kind):
    y, options = (Y > 0).astype(int), {}
    if kind is not th.Perceptron:
        options = {"learning_rate": "constant"}
    known = {} if kind is th.SGDRegressor else {"classes": [0, 1]}
    found = [
        kind(eta0=eta0, shuffle=False, **options).partial_fit(X / 10, y, **known).coef_
        for eta0 in (1, 1.0, np.int64(1))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[1])
