"""Targets a loss cannot take are refused with count, row, value, rule and remedy."""

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.losses.loss_cases import draw, losses
from thetahat.foundation.errors import DataError
from thetahat.mathematics.losses.base import Targets
from thetahat.mathematics.losses.targets import RULES, check_targets

BAD = {
    Targets.REAL: [np.nan, np.inf, -np.inf],
    Targets.NONNEGATIVE: [-2.0, np.nan],
    Targets.POSITIVE: [0.0, -2.0, np.nan],
    Targets.BINARY: [-1.0, 0.5, 2.0, np.nan],
    Targets.SIGNS: [0.0, 0.5, 2.0, np.inf],
    Targets.CLASSES: [-1.0, 0.5, np.nan],
}


def test_every_kind_of_target_has_a_rule():
    assert set(RULES) == set(BAD) == set(Targets)


@losses()
def test_good_targets_pass(loss):
    y, _ = draw(loss)
    check_targets(loss, y, who="Model")
    check_targets(loss, np.ceil(y).astype(int), who="Model")
    check_targets(loss, y.tolist(), who="Model")


@losses()
def test_bad_targets_are_named(loss):
    for bad in BAD[loss.targets]:
        y = draw(loss)[0].astype(float)
        y[[17, 40]] = bad
        with pytest.raises(DataError) as error:
            check_targets(loss, y, who="Model")
        message = str(error.value)
        assert message.startswith("Model: 2 of 300 targets are ")
        assert f"(first at row 17: {bad!r})" in message
        assert f"{type(loss).__name__} loss needs {loss.targets.value}. " in message


def test_the_message_in_full():
    y = np.ones(5000)
    y[[17, 18, 4000]] = -2
    with pytest.raises(DataError) as error:
        check_targets(th.losses.Poisson(), y, who="PoissonRegression")
    assert str(error.value) == (
        "PoissonRegression: 3 of 5,000 targets are negative (first at row 17: -2.0); Poisson loss "
        "needs numbers ≥ 0. Use LinearRegression or another loss for signed targets."
    )


def test_one_offender_is_singular_and_rows_count_rows():
    y = np.zeros((4, 3))
    y[2, 1] = np.nan
    with pytest.raises(
        DataError, match=r"1 of 12 targets is NaN or infinite \(first at row 2: nan"
    ):
        check_targets(th.losses.Squared(), y, who="Model")


def test_booleans_are_zero_and_one():
    check_targets(th.losses.Logistic(), np.array([True, False]), who="Model")
    with pytest.raises(DataError, match="neither −1 nor"):
        check_targets(th.losses.Hinge(), np.array([True, False]), who="Model")


@pytest.mark.parametrize("y", [["a", "b"], np.array([1, "x"], dtype=object), np.array([1j, 2.0])])
def test_targets_that_are_no_numbers_are_refused(y):
    with pytest.raises(DataError, match=r"Model: targets are of type .*; Hinge loss needs"):
        check_targets(th.losses.Hinge(), y, who="Model")


def test_rows_of_a_later_block_keep_their_numbers():
    with pytest.raises(DataError, match=r"1 of 3 targets is negative \(first at row 1,002: -1.0\)"):
        check_targets(th.losses.Poisson(), np.array([1.0, 2.0, -1.0]), who="Model", start=1000)
