"""What holds for every loss: derivatives, kinks, convexity, majorization, stability, values."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import thetahat as th
from tests.mathematics.losses.loss_cases import (
    draw,
    loss_classes,
    losses,
    one_column,
)
from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.losses.base import (
    Curved,
    Reweightable,
    Smooth,
    Subdifferentiable,
)

STEP = 1e-6


def derivative(function, z, direction, step=STEP):
    """Central difference of function along a direction, row by row."""
    return (function(z + step * direction) - function(z - step * direction)) / (2 * step)


def directions(z):
    """The coordinate directions of a row."""
    return [np.ones_like(z)] if z.ndim == 1 else [np.eye(z.shape[1])[c] for c in range(z.shape[1])]


@losses(Subdifferentiable)
def test_gradient_is_the_derivative_of_the_value(loss):
    y, z = draw(loss)
    gradient = loss.gradient(y, z)
    assert gradient.shape == z.shape
    assert loss.value(y, z).shape == y.shape
    columns = [derivative(lambda at: loss.value(y, at), z, along) for along in directions(z)]
    expected = columns[0] if z.ndim == 1 else np.stack(columns, axis=1)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


@losses(Subdifferentiable)
def test_value_and_gradient_together_are_the_two_alone(loss):
    y, z = draw(loss)
    for targets, scores in ((y, z), (y.astype(np.float32), z), (y[::2], z[::2])):
        value, gradient = loss.value_and_gradient(targets, scores)
        np.testing.assert_allclose(value, loss.value(targets, scores), rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(gradient, loss.gradient(targets, scores), rtol=1e-6, atol=1e-12)


@losses(Smooth, where=one_column)
def test_derivatives_agree_where_an_exponential_would_overflow(loss):
    """Around z = ±354.9, half the logarithm of the largest float64, and far beyond."""
    sizes = np.concatenate([np.linspace(354, 356, 21), [500.0, 900.0]])
    z = np.concatenate([-sizes, sizes])
    y = np.resize(draw(loss)[0], z.shape)
    names = [name for name in ("value", "gradient", "curvature") if hasattr(loss, name)]
    for formula, slope in pairwise(getattr(loss, name) for name in names):
        expected = derivative(lambda at, of=formula: of(y, at), z, 1.0, step=1e-3)
        np.testing.assert_allclose(slope(y, z), expected, rtol=1e-3, atol=1e-7)


@losses(Curved)
def test_curvature_is_the_derivative_of_the_gradient(loss):
    y, z = draw(loss)
    columns = [derivative(lambda at: loss.gradient(y, at), z, along) for along in directions(z)]
    if z.ndim == 1:
        expected = columns[0]
    else:
        expected = np.stack([columns[c][:, c] for c in range(z.shape[1])], axis=1)
    np.testing.assert_allclose(loss.curvature(y, z), expected, rtol=1e-6, atol=1e-7)


@losses(Curved)
def test_curvature_product_is_the_change_of_the_gradient(loss):
    y, z = draw(loss)
    direction = np.random.default_rng(1).normal(size=z.shape)
    expected = derivative(lambda at: loss.gradient(y, at), z, direction)
    np.testing.assert_allclose(
        loss.curvature_product(y, z, direction), expected, rtol=1e-6, atol=1e-7
    )


@losses(Curved, where=lambda loss: not one_column(loss))
def test_columns_of_the_curvature_are_products_with_unit_vectors(loss):
    y, z = draw(loss)
    found = list(loss.curvature_columns(y, z))
    assert len(found) == z.shape[1]
    for c, column in enumerate(found):
        direction = np.zeros_like(z)
        direction[:, c] = 1.0
        expected = loss.curvature_product(y, z, direction)
        np.testing.assert_allclose(column, expected, rtol=1e-12, atol=1e-15)


@losses(Subdifferentiable, where=one_column)
def test_gradient_on_a_kink_lies_between_the_one_sided_ones(loss):
    y, _ = draw(loss)
    for kink in loss.kinks(y):
        here = loss.value(y, kink)
        left = (here - loss.value(y, kink - STEP)) / STEP
        right = (loss.value(y, kink + STEP) - here) / STEP
        gradient = loss.gradient(y, kink)
        assert np.all(gradient >= np.minimum(left, right) - 1e-5)
        assert np.all(gradient <= np.maximum(left, right) + 1e-5)
        if isinstance(loss, Smooth):
            np.testing.assert_allclose(left, right, atol=1e-5)


@losses(Curved, where=one_column)
def test_curvature_on_a_kink_is_one_of_the_one_sided_ones(loss):
    y, _ = draw(loss)
    for kink in loss.kinks(y):
        sides = [loss.curvature(y, kink + shift) for shift in (-STEP, STEP)]
        here = loss.curvature(y, kink)
        nearest = np.minimum(np.abs(here - sides[0]), np.abs(here - sides[1]))
        np.testing.assert_allclose(nearest, 0, atol=1e-5)


@losses(Subdifferentiable, where=one_column)
def test_kinks_are_all_jumps_of_gradient_or_curvature_and_no_others(loss):
    for target in np.unique(draw(loss, n=6)[0]):
        z, spacing = np.linspace(-8, 8, 160_001, retstep=True)
        y = np.full_like(z, target)
        jumps = np.zeros(len(z) - 1, bool)
        derivatives = [loss.gradient] + ([loss.curvature] if isinstance(loss, Curved) else [])
        for formula in derivatives:
            values = formula(y, z)
            jumps |= np.abs(np.diff(values)) > 0.02 * (1 + np.abs(values[1:]))
        places = z[1:][jumps]
        kinks = np.unique([kink[0] for kink in loss.kinks(np.array([target]))])
        assert all(np.min(np.abs(kinks - place), initial=np.inf) <= 2 * spacing for place in places)
        assert all(
            np.min(np.abs(places - kink), initial=np.inf) <= 2 * spacing
            for kink in kinks
            if abs(kink) < 7.9
        )


@losses()
def test_convex_says_whether_chords_lie_above(loss):
    y, z = draw(loss, n=20_000)
    other = z + np.random.default_rng(1).normal(scale=6.0, size=z.shape)
    middle = loss.value(y, (z + other) / 2)
    chord = (loss.value(y, z) + loss.value(y, other)) / 2
    above = np.all(middle <= chord + 1e-12 * (1 + np.abs(chord)))
    assert above == loss.convex


@losses(Subdifferentiable, where=lambda loss: loss.convex)
def test_convex_losses_lie_above_their_subgradients_on_kinks_too(loss):
    y, z = draw(loss, n=2000)
    y, z = np.round(y), np.round(z)
    other = z + np.random.default_rng(1).normal(scale=2.0, size=z.shape)
    slope = loss.gradient(y, z) * (other - z)
    slope = slope if z.ndim == 1 else np.sum(slope, axis=1)
    value = loss.value(y, other)
    assert np.all(value >= loss.value(y, z) + slope - 1e-9 * (1 + np.abs(value)))


@losses(Reweightable)
def test_reweighted_parabola_touches_the_loss_from_above(loss):
    here, there = np.meshgrid(np.linspace(-9, 9, 181), np.linspace(-9, 9, 181))
    here, there = here.ravel(), there.ravel()
    y = np.zeros_like(here)
    weight = loss.irls_weight(y, here)
    assert np.all(weight >= 0)
    np.testing.assert_allclose(weight * here, loss.gradient(y, here), atol=1e-12)
    parabola = loss.value(y, here) + weight / 2 * (there**2 - here**2)
    assert np.all(loss.value(y, there) <= parabola + 1e-8)


@losses()
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e3, 1e6])
def test_no_score_is_too_large(loss, dtype, size):
    y, z = draw(loss)
    z = (np.sign(z) * size).astype(dtype)
    formulas = ["value", "gradient", "curvature", "irls_weight"]
    for formula in [getattr(loss, name) for name in formulas if hasattr(loss, name)]:
        assert np.all(np.isfinite(formula(y, z)))
    assert np.all(np.isfinite(loss.mean(z)))


@losses()
def test_float32_stays_float32(loss):
    y, z = draw(loss)
    wide = loss.set_params(**{name: np.float64(p) for name, p in loss.get_params().items()})
    narrow = z.astype(np.float32)
    for name in ["value", "gradient", "curvature", "irls_weight"]:
        if hasattr(loss, name):
            result = getattr(wide, name)(y, narrow)
            assert result.dtype == np.float32
            np.testing.assert_allclose(result, getattr(loss, name)(y, z), rtol=2e-3, atol=2e-4)
    assert loss.mean(narrow).dtype == np.float32
    assert loss.best_constant(y.astype(np.float32), np.ones(len(y))).dtype == np.float32


@losses()
def test_whole_number_targets_and_lists_are_numbers(loss):
    y, z = draw(loss, n=8)
    y = np.round(y)
    expected = loss.value(y, z)
    np.testing.assert_array_equal(loss.value(y.astype(int), z), expected)
    np.testing.assert_array_equal(loss.value(y.tolist(), z.tolist()), expected)
    rounded = np.round(z)
    np.testing.assert_array_equal(loss.value(y, rounded.astype(int)), loss.value(y, rounded))


@losses()
def test_parameters_make_the_value(loss):
    assert type(loss)(**loss.get_params()) == loss
    assert hash(type(loss)(**loss.get_params())) == hash(loss)
    assert loss.set_params(**loss.get_params()) == loss
    assert clone(loss) == loss
    for name, value in loss.get_params().items():
        other = 0.75 * value + (0.4 if name == "power" else 0.1)
        changed = loss.set_params(**{name: other})
        assert changed != loss
        assert getattr(changed, name) == other
        with pytest.raises(AttributeError):
            setattr(loss, name, value)
    with pytest.raises(ParameterError, match="has no parameter 'sharpness'"):
        loss.set_params(sharpness=1.0)


@losses(where=lambda loss: loss.get_params())
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "1", None])
def test_bad_parameters_are_refused_when_made(loss, bad):
    for name in loss.get_params():
        with pytest.raises(ParameterError, match=rf"\({name}=.*must be a finite number"):
            loss.set_params(**{name: bad})


@pytest.mark.parametrize(
    ("part", "end"),
    [
        (th.losses.Quantile, 0.0),
        (th.losses.Quantile, 1.0),
        (th.losses.Huber, 0.0),
        (th.losses.Forsyth, 0.0),
        (th.losses.Cauchy, 0.0),
        (th.losses.Tukey, 0.0),
    ],
)
def test_open_ranges_end_before_their_ends(part, end):
    with pytest.raises(ParameterError, match="must be a finite number"):
        part(end)
    part(abs(end - 0.01))


@pytest.mark.parametrize("part", loss_classes())
def test_names_and_aliases_make_the_loss(part):
    for name in (part.name, *part.aliases):
        assert th.losses.named(name) == part()
    assert th.losses.named(part()) == part()


def test_names_belong_to_one_loss_each():
    names = [name for part in loss_classes() for name in (part.name, *part.aliases)]
    assert len(names) == len(set(names))
    for alias, loss in {
        "squared_error": th.losses.Squared(),
        "absolute_error": th.losses.Absolute(),
        "log_loss": th.losses.Logistic(),
    }.items():
        assert th.losses.named(alias) == loss


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match="Did you mean 'huber'") as error:
        th.losses.named("hubber")
    assert all(part.name in str(error.value) for part in loss_classes())
    with pytest.raises(ParameterError, match=r"Pass a value: Huber\(\)"):
        th.losses.named(th.losses.Huber)
    with pytest.raises(ParameterError, match="neither a loss nor the name of one"):
        th.losses.named(3)


@losses()
@pytest.mark.parametrize("namespace", ["array_api_strict", "torch"])
def test_other_array_libraries_give_the_same_numbers(loss, namespace):
    xp = pytest.importorskip(namespace)
    y, z = draw(loss)
    y = y.astype(np.float64)
    direction = np.cos(z)
    theirs = {name: xp.asarray(array) for name, array in {"y": y, "z": z, "d": direction}.items()}
    calls = {
        "value": ("y", "z"),
        "gradient": ("y", "z"),
        "curvature": ("y", "z"),
        "irls_weight": ("y", "z"),
        "curvature_product": ("y", "z", "d"),
        "mean": ("z",),
        "best_constant": ("y",),
    }
    ours = {"y": y, "z": z, "d": direction}
    for name, arguments in calls.items():
        if hasattr(loss, name):
            result = getattr(loss, name)(*(theirs[argument] for argument in arguments))
            assert type(result) is type(theirs["z"])
            expected = getattr(loss, name)(*(ours[argument] for argument in arguments))
            np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-9, atol=1e-12)
