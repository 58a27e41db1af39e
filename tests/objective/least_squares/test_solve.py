"""Least squares by the solver of a name."""

import numpy as np
import pytest

from thetahat.data.validation import as_source
from thetahat.objective.least_squares.solve import SOLVERS, least_squares


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_every_solver_comes_near_the_minimum(solver):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 2))
    y = X @ [1.0, -2.0] + 0.5 + 0.1 * random.standard_normal(300)
    found = least_squares(as_source(X, y), solver=solver, random_state=0)
    design = np.column_stack([X, np.ones(300)])
    best = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(found.solution.theta[:, 0], best, atol=0.02)
    np.testing.assert_allclose(found.fit.coef[:, 0], found.solution.theta[:-1, 0])
