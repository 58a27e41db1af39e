"""How often a simulation is repeated: a few times in `make test`, as often as it should be in
`make test-all`.

Tolerances that depend on the number keep both honest: few repetitions find gross faults.
"""

import pytest


def repeated(few, many):
    """Run the test with `repeats` = few, and in the slow suite with `repeats` = many."""
    return pytest.mark.parametrize("repeats", [few, pytest.param(many, marks=pytest.mark.slow)])
