"""Losses from Python functions: derivatives against closed forms, and what is refused."""

import pickle

import numpy as np
import pytest
from array_api_compat import array_namespace

import thetahat as th
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.mathematics import losses
from thetahat.mathematics.losses.base import Curved, Smooth, Targets
from thetahat.mathematics.losses.custom import loss
from thetahat.mathematics.losses.links import Link


def huber(y, z):
    r = np.abs(z - y)
    return np.where(r <= 1.35, r**2 / 2, 1.35 * (r - 1.35 / 2))


def softmax_cross_entropy(y, z):
    return np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]


def multiclass_hinge(y, z):
    right = z[np.arange(len(y)), y]
    return np.sum(np.maximum(0, 1 + z - right[:, None]), axis=1) - 1


def squared_in_any_namespace(y, z):
    xp = array_namespace(y, z)
    return xp.square(z - xp.astype(y, z.dtype)) / 2


MADE = {
    "squared": (loss(squared_in_any_namespace), losses.Squared()),
    "huber": (loss(huber), losses.Huber()),
    "absolute": (loss(lambda y, z: np.abs(z - y)), losses.Absolute()),
    "logistic": (
        loss(lambda y, z: np.logaddexp(0, z) - y * z, targets="binary", link="logit"),
        losses.Logistic(),
    ),
    "poisson": (
        loss(lambda y, z: np.exp(z) - y * z, targets="nonnegative", link="log"),
        losses.Poisson(),
    ),
    "hinge": (loss(lambda y, z: np.maximum(0, 1 - y * z), targets="signs"), losses.Hinge()),
    "squared hinge": (
        loss(lambda y, z: np.maximum(0, 1 - y * z) ** 2, targets="signs"),
        losses.SquaredHinge(),
    ),
    "cauchy": (loss(lambda y, z: np.log1p((z - y) ** 2 / 4) * 2), losses.Cauchy(2.0)),
    "softmax": (
        loss(softmax_cross_entropy, targets=Targets.CLASSES, link=Link.SOFTMAX),
        losses.SoftmaxCrossEntropy(),
    ),
    "multiclass hinge": (loss(multiclass_hinge, targets="classes"), losses.MulticlassHinge()),
}
"""A loss made from a function, and the library's own with the same formula (up to a factor)."""


def sample(made, n=50):
    draw = np.random.default_rng(0)
    y = {
        Targets.REAL: draw.normal(size=n) * 3 + 1,
        Targets.NONNEGATIVE: draw.poisson(3.0, size=n),
        Targets.BINARY: draw.integers(0, 2, size=n),
        Targets.SIGNS: draw.choice([-1.0, 1.0, 1.0], size=n),
        Targets.CLASSES: draw.choice(3, p=[0.5, 0.2, 0.3], size=n),
    }[made.targets]
    z = draw.normal(size=n if made.columns == "one" else (n, 3))
    return np.asarray(y, dtype=float), z, draw.uniform(size=n)


def ratio(made, own):
    y, z, _ = sample(made)
    values, expected = made.value(y, z), own.value(y, z)
    k = int(np.argmax(expected))
    factor = values[k] / expected[k]
    np.testing.assert_allclose(values, factor * expected, rtol=1e-12, atol=1e-12)
    return factor


@pytest.mark.parametrize("name", MADE)
def test_derivatives_are_the_closed_forms(name):
    made, own = MADE[name]
    factor = ratio(made, own)
    y, z, _ = sample(made)
    np.testing.assert_allclose(
        made.gradient(y, z), factor * own.gradient(y, z), rtol=1e-11, atol=1e-13
    )
    if isinstance(own, Curved):
        v = np.random.default_rng(1).normal(size=z.shape)
        np.testing.assert_allclose(made.curvature(y, z), factor * own.curvature(y, z), atol=1e-12)
        np.testing.assert_allclose(
            made.curvature_product(y, z, v), factor * own.curvature_product(y, z, v), atol=1e-12
        )


@pytest.mark.parametrize("name", MADE)
def test_kind_is_judged_rightly(name):
    """Kinks, smoothness, convexity, targets and columns are those of the library's own loss."""
    made, own = MADE[name]
    assert isinstance(made, Smooth) == isinstance(own, Smooth)
    assert made.convex == own.convex
    assert (made.targets, made.columns) == (own.targets, own.columns)


@pytest.mark.parametrize("name", MADE)
def test_best_constant_is_as_good_as_the_closed_form(name):
    made, own = MADE[name]
    y, _, weight = sample(made)

    def risk(constant):
        z = np.broadcast_to(constant, y.shape if made.columns == "one" else (len(y), 3))
        return np.sum(weight * made.value(y, z))

    best = risk(own.best_constant(y, weight))
    assert risk(made.best_constant(y, weight)) <= best + 1e-9 * abs(best)


def test_best_constant_is_exact_where_the_slope_tells():
    made = MADE["squared"][0]
    y, _, weight = sample(made)
    assert made.best_constant(y, weight) == pytest.approx(np.average(y, weights=weight), rel=1e-15)
    assert made.best_constant(y * 1e8) == pytest.approx(np.mean(y * 1e8), rel=1e-14)
    assert made.best_constant(np.array([2.0])) == 2.0
    assert made.best_constant(y.astype(np.float32)).dtype == np.float32


def test_best_constant_stays_finite_when_one_class_is_seen():
    assert 20 < MADE["logistic"][0].best_constant(np.ones(5)) < 1e4
    assert -1e4 < MADE["logistic"][0].best_constant(np.zeros(5)) < -20


def test_weight_two_is_the_row_twice():
    made = MADE["huber"][0]
    y, _, _ = sample(made)
    once = made.best_constant(np.append(y, y[:10]))
    weighted = made.best_constant(y, np.where(np.arange(len(y)) < 10, 2.0, 1.0))
    assert once == pytest.approx(weighted, rel=1e-12)


@pytest.mark.parametrize("name", MADE)
def test_single_precision_stays_single(name):
    made, _ = MADE[name]
    y, z, _ = sample(made)
    z = z.astype(np.float32)
    assert made.value(y, z).dtype == made.gradient(y, z).dtype == np.float32
    if isinstance(made, Curved):
        assert made.curvature(y, z).dtype == np.float32


def test_a_single_number_for_z_is_every_row_s():
    made = MADE["huber"][0]
    y, _, _ = sample(made)
    z = np.full(y.shape, 0.5)
    for formula in (made.value, made.gradient, made.curvature):
        np.testing.assert_array_equal(formula(y, 0.5), formula(y, z))


def test_the_mean_follows_the_link():
    made = MADE["logistic"][0]
    np.testing.assert_allclose(made.mean(np.array([0.0])), 0.5)


# Derivatives given by hand.


def test_own_derivatives_are_used_and_checked():
    calls = []

    def gradient(y, z):
        calls.append("gradient")
        return z - y

    made = loss(
        lambda y, z: (z - y) ** 2 / 2, gradient=gradient, curvature=lambda y, z: np.ones_like(z)
    )
    calls.clear()
    np.testing.assert_array_equal(made.gradient(np.zeros(2), np.array([1.0, 2.0])), [1, 2])
    assert calls == ["gradient"]
    np.testing.assert_array_equal(made.curvature(np.zeros(2), np.ones(2)), 1)
    np.testing.assert_array_equal(made.curvature_product(np.zeros(2), np.ones(2), np.ones(2)), 1)


def test_curvature_comes_from_an_own_gradient():
    made = loss(lambda y, z: (z - y) ** 4, gradient=lambda y, z: 4 * (z - y) ** 3)
    np.testing.assert_allclose(made.curvature(np.zeros(2), np.array([1.0, 2.0])), [12, 48])


def test_functions_that_cannot_be_traced_work_with_own_derivatives():
    def by_hand(y, z):
        return np.array([float(a - b) ** 2 for a, b in zip(z, y, strict=True)])

    with pytest.raises(CapabilityError, match=r"no gradient can be found.*float\(x\)"):
        loss(by_hand)
    made = loss(
        by_hand,
        gradient=lambda y, z: 2 * (z - y),
        curvature=lambda y, z: np.full_like(z, 2.0),
    )
    assert made.best_constant(np.array([1.0, 2.0])) == 1.5


WRONG = [
    (
        lambda: loss(lambda y, z: (z - y) ** 2, gradient=lambda y, z: z - y),
        r"y = -2\.5, z = 0\.18.* gradient is 2\.68\d+, but finite differences give 5\.37",
    ),
    (
        lambda: loss(
            lambda y, z: (z - y) ** 2,
            gradient=lambda y, z: 2 * (z - y),
            curvature=lambda y, z: np.ones_like(z),
        ),
        r"y = -2\.5.* curvature is 1, but finite differences give 2",
    ),
    (
        lambda: loss(lambda y, z: (z - y) ** 2, gradient=lambda y, z: 0.0),
        r"gradient has shape \(\)",
    ),
    (lambda: loss(lambda y, z: np.mean((z - y) ** 2)), r"returned shape \(\).*one value per row"),
    (lambda: loss(lambda y, z: (z[:, None] - y) ** 2), r"returned shape \(24, 24\)"),
    (lambda: loss(lambda y, z: (z - np.mean(z)) ** 2), "mixes rows"),
    (lambda: loss(lambda y, z: (z - y) ** 2 / np.std(y)), "mixes rows.*alone"),
    (lambda: loss(lambda y, z: np.sqrt(-1 - z**2)), "finite nowhere"),
    (lambda: loss(huber, targets="counts"), "targets='counts'.*nonnegative"),
    (lambda: loss(huber, link="probit"), "link='probit'.*logit"),
]


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_wrong_losses_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_hidden_constant_is_found():
    """A function whose traced path differs from its plain one has a derivative that disagrees."""

    def deceitful(y, z):
        return (z - y) ** 2 if isinstance(z, np.ndarray) else (z - y) ** 2 / 2

    with pytest.raises(ParameterError, match="finite differences give"):
        loss(deceitful)


# A value object.


def test_a_custom_loss_is_a_value():
    made = loss(huber, name="mine", convex=True)
    assert made.name == "mine"
    assert loss(huber).name == "huber"
    assert loss(lambda y, z: (z - y) ** 2).name == "custom"
    assert made == loss(huber, name="mine")
    assert hash(made) == hash(loss(huber, name="mine"))
    assert made != loss(huber, name="other")
    assert made.get_params()["function"] is huber
    assert made.set_params(name="other") == loss(huber, name="other")
    with pytest.raises(AttributeError):
        made.name = "changed"


def test_replacing_the_function_examines_it_again():
    with pytest.raises(ParameterError, match="mixes rows"):
        loss(huber).set_params(function=lambda y, z: (z - np.mean(z)) ** 2)


def test_judgements_can_be_overruled():
    assert loss(huber, convex=False).convex is False
    kinked = loss(huber, smooth=False)
    assert not isinstance(kinked, Curved)


def test_pickle():
    made = loss(squared_in_any_namespace)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    y, z = np.zeros(3), np.arange(3.0)
    np.testing.assert_array_equal(again.curvature(y, z), made.curvature(y, z))


@pytest.mark.parametrize(
    ("fn", "options", "message"),
    [
        (3, {}, r"loss\(fn=3\): must be a function of \(y, z\)"),
        (lambda z: z**2, {}, r"takes \(z\), and it is called with two arguments"),
        (lambda y, z, scale: (z - y) ** 2 / scale, {}, "missing a required argument: 'scale'"),
        (lambda y, z: (z - y) ** 2, {"gradient": 2.0}, r"loss\(gradient=2.0\): must be a function"),
        (lambda y, z: (z - y) ** 2, {"curvature": lambda z: z}, r"loss\(curvature=...\)"),
    ],
)
def test_what_is_no_function_of_two_arguments_is_refused(fn, options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.loss(fn, **options)


def test_a_loss_that_is_nan_on_the_data_is_named():
    X, y = np.arange(6.0)[:, np.newaxis], np.array([-1.0, -2.0, 1.5, -1.0, 0.5, 3.0])
    positive = th.loss(lambda y, z: np.log(z - y), name="log_above")
    with pytest.raises(
        th.errors.DataError, match=r"loss 'log_above' is NaN at the start, first in row 2"
    ):
        th.LinearModel(loss=positive).fit(X, y)
    holed = th.loss(lambda y, z: np.where(y > 2.5, np.nan, (z - y) ** 2), name="holed")
    curve = th.NonlinearRegression(lambda X, b: b[0] * X[:, 0], [1.0], loss=holed)
    with pytest.raises(th.errors.DataError, match=r"holed is nan at y = z = 3 .*\(row 5\)"):
        curve.fit(X, y)
