"""Conditions on the parts of a risk: None if they are met, else what is missing."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective import requirements
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

SOURCE = as_source(np.ones((4, 2)), np.ones(4))


def risk_of(loss="squared", penalty="none", predictor=None):
    return EmpiricalRisk(
        predictor or LinearPredictor(2), th.losses.named(loss), th.penalties.named(penalty), SOURCE
    )


@pytest.mark.parametrize(
    ("condition", "met", "missed"),
    [
        ("smooth_loss", {"loss": "huber"}, {"loss": "hinge"}),
        ("convex_loss", {"loss": "logistic"}, {"loss": "tukey"}),
        ("subdifferentiable_loss", {"loss": "hinge"}, {"loss": "zero_one"}),
        ("smooth_penalty", {"penalty": "l2"}, {"penalty": "l1"}),
        ("coordinatewise_penalty", {"penalty": "l1"}, {"penalty": "group_lasso"}),
        ("positive_l2_penalty", {"penalty": "l2"}, {"penalty": "none"}),
        ("penalised_coordinates", {"penalty": "l1"}, {"penalty": "none"}),
        ("one_output", {}, {"predictor": LinearPredictor(2, 3)}),
        ("columns_of_x_alone", {}, {"predictor": BiasColumn(3)}),
    ],
)
def test_conditions(condition, met, missed):
    check = getattr(requirements, condition)
    assert check(risk_of(**met)) is None
    assert isinstance(check(risk_of(**missed)), str)


def test_the_words_name_the_part():
    assert "Hinge" in requirements.smooth_loss(risk_of("hinge"))
    assert "L1" in requirements.smooth_penalty(risk_of(penalty="l1"))


def test_a_bound_other_than_zero_has_no_dual():
    boxed = th.penalties.L1(0.1) & th.penalties.Box(-1.0, 1.0)
    assert "bounds" in requirements.terms_with_a_dual(boxed, 3)
    positive = th.penalties.L1(0.1) & th.penalties.NonNegative()
    assert requirements.terms_with_a_dual(positive, 3) is None
