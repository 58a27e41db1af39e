"""Online learning: mistake bounds, expert advice, streams and active learning."""

from thetahat.models.online.disjunction import Disjunction, MonotoneDisjunction
from thetahat.models.online.hedge import Hedge, HedgeRun
from thetahat.models.online.perceptron import OnlinePerceptron
from thetahat.models.online.protocol import Game, OnlineLearner, Teacher, play
from thetahat.models.online.stream import (
    ActiveLearning,
    ProgressiveValidation,
    active_learning,
    progressive_validation,
    uncertainty,
)
from thetahat.models.online.winnow import Winnow

__all__ = [
    "ActiveLearning",
    "Disjunction",
    "Game",
    "Hedge",
    "HedgeRun",
    "MonotoneDisjunction",
    "OnlineLearner",
    "OnlinePerceptron",
    "ProgressiveValidation",
    "Teacher",
    "Winnow",
    "active_learning",
    "play",
    "progressive_validation",
    "uncertainty",
]


def __dir__() -> list[str]:
    return sorted(__all__)
