"""The page on Dask says how the leaf values of each loss are found on the workers."""

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
WORDS = {
    "newton": r"take one Newton step \((.*?)\)",
    "quantile": r"The quantiles of (.*?) are selected",
    "huber": r"passes are enough\. (.*?) makes Newton steps from the median",
    None: r"passes, and (.*?) and further losses search the root",
}


@pytest.mark.parametrize("name", LOSSES)
def test_how_leaf_values_are_found(name):
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    loss = named(name) if name != "quantile" else named(name).set_params(level=0.3)
    shift = loss.best_shift
    way = "newton" if takes_newton_steps(loss, "auto") else shift and shift.statistic
    (words,) = re.findall(WORDS[way], text)
    assert f"``{name}``" in words
