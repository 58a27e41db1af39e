"""The page on Dask names the losses that are fitted on the workers, and those that are not."""

import re
from pathlib import Path

import pytest

from thetahat.mathematics.losses import named
from thetahat.models.ensemble.gradient_boosting.leaf_values import takes_newton_steps

PAGE = Path(__file__).parents[2] / "docs" / "outgrowing_dask.rst"
LOSSES = [
    "squared_error",
    "poisson",
    "log_loss",
    "exponential",
    "absolute_error",
    "quantile",
    "huber",
    "gamma",
    "tweedie",
]


@pytest.mark.parametrize("name", LOSSES)
def test_where_a_loss_is_fitted(name):
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    on_workers, on_client = re.findall(
        r"The losses (.*?) are fitted.*?do: (.*?) and further", text
    )[0]
    found = on_workers if takes_newton_steps(named(name), "auto") else on_client
    assert f"``{name}``" in found
