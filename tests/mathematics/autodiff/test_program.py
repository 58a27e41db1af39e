"""Recorded programs: the same numbers as tracing, for every θ, or a refusal."""

import numpy as np
import pytest
from scipy import special

import thetahat as th
from thetahat.mathematics.autodiff import program
from thetahat.mathematics.autodiff.program import record

X = np.random.default_rng(0).uniform(0.2, 2.0, 40)
X.flags.writeable = False
START, OTHER = np.array([0.7, 1.3, 0.4]), np.array([-0.6, 0.9, 1.7])


def shifted(t):
    z = X.copy()
    first = t[0] * z
    z += 1.0  # after the first use
    return first + t[1] * z - t[2]


FORMULAS = {
    "decay": lambda t: t[0] * np.exp(-t[1] * X) + t[2],
    "growth": lambda t: t[0] / (1 + np.exp(t[1] - t[2] * X)),
    "powers": lambda t: t[0] * X ** t[1] + t[2] ** 2,
    "power of an expression": lambda t: (X + t[1] ** 2) ** t[0] - t[2],
    "waves": lambda t: t[0] * np.sin(t[1] * X) + np.arctan(t[2] * X),
    "kink": lambda t: t[0] + np.maximum(t[1] * X, t[2]),
    "mask of rows": lambda t: np.where(X > 1.0, t[0] * X, t[1] * X**2) + t[2],
    "mask of values": lambda t: np.where(t[0] * X > t[1], t[0] * X, t[2] * X),
    "special": lambda t: t[0] * special.expit(t[1] * X) + np.tanh(t[2]),
    "an array that changes": shifted,
    "one parameter without effect": lambda t: t[0] * X + 2.0 * t[2],
}


@pytest.mark.parametrize("slab", [7, 4096])
@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_slopes_are_those_of_tracing(name, slab, monkeypatch):
    monkeypatch.setattr(program, "SLAB", slab)
    formula = FORMULAS[name]
    found = record(formula, len(X), 3)
    for theta in (START, OTHER, START):
        np.testing.assert_allclose(found.values(theta), formula(theta), rtol=1e-15)
        expected = th.autodiff.jacobian(formula, theta)
        np.testing.assert_allclose(found.slopes(theta), expected, rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(found.slopes(theta), record(formula, 40, 3).slopes(theta))


def test_intermediate_results_are_kept_or_not(monkeypatch):
    formula = FORMULAS["growth"]
    keeping = record(formula, len(X), 3)
    monkeypatch.setattr(program, "MOST_KEPT", 0)
    forgetting = record(formula, len(X), 3)
    for theta in (START, OTHER):
        for each in (keeping, forgetting):
            each.values(START)
            expected = th.autodiff.jacobian(formula, theta)
            np.testing.assert_allclose(each.slopes(theta), expected, rtol=1e-13)


@pytest.mark.parametrize(
    "formula",
    [
        lambda t: t[0] * X if t[1] > 0 else t[2] * X,
        lambda t: max(t[0], t[1]) * X + t[2],
        lambda t: t[0] * X / np.sum(np.exp(t[1] * X)),
        lambda t: t[0] * np.array([1.0, 2.0])[:, None] + t[1] * X + t[2],
        lambda t: t[0] * X[np.argsort(t[1] * X)] + t[2],
        lambda t: float(t[0]) * X,
        lambda t: X,
    ],
    ids=["if", "max", "sum over rows", "other shape", "order", "float", "constant"],
)
def test_operations_that_may_differ_for_another_theta_are_refused(formula):
    with pytest.raises(th.errors.CapabilityError):
        record(formula, len(X), 3)


def test_each_operation_is_computed_once():
    """exp(−t₁x) is needed by the value and by two slopes."""
    found = record(FORMULAS["decay"], len(X), 3)
    runs = [step.run for step in found._first + found._second]
    assert runs.count(np.exp) == 1
    assert len(runs) <= 8
