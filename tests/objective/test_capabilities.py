"""Methods that exist only where the parts of a problem allow them."""

import pytest

from thetahat.mathematics.optimizers.problem import MissingCapability
from thetahat.objective.capabilities import requires


class Problem:
    def __init__(self, lack=None):
        self.lack, self.asked = lack, 0

    def condition(self):
        self.asked += 1
        return self.lack

    @requires(lambda problem: problem.condition())
    def step(self, size):
        """Make a step."""
        return 2 * size


def test_a_method_is_there_if_every_condition_is_met():
    problem = Problem()
    assert hasattr(problem, "step")
    assert problem.step(3) == 6
    assert problem.asked == 1, "conditions are evaluated once, because parts never change"


def test_a_method_is_missing_with_the_words_of_the_condition():
    problem = Problem("a smooth loss")
    assert not hasattr(problem, "step")
    with pytest.raises(MissingCapability, match="a smooth loss"):
        problem.step(3)


def test_the_docstring_of_the_method_is_kept():
    assert Problem.step.__doc__ == "Make a step."
