"""Warnings of fits that stopped early: what they count, and remedies that the estimator has."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.conformance.estimator_cases import ESTIMATORS, X, suited, targets
from thetahat.catalog import estimators
from thetahat.estimator.watching import STEP_SIZES, WARNED_OF, Watched
from thetahat.mathematics.optimizers.solution import Outcome, Solution

WATCHED = [name for name, kind in estimators().items() if issubclass(kind, Watched)]
LIMITED = [name for name in ESTIMATORS if "max_iter" in ESTIMATORS[name].get_params(deep=False)]
NAMED = re.compile(
    r"[Rr]aise (\w+)(?: or (\w+))?|[Ll]ower (?!point)(\w+)|another (solver)|\b(\w+)=(?!\.)"
)


def named(message):
    """The parameters that a warning asks to change."""
    message = message.replace("th.config(max_time=...)", "time")
    return {word for groups in NAMED.findall(message) for word in groups if word} - {
        "time",
        "n_iter_",
    }


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught if each.category is ConvergenceWarning]


@pytest.mark.parametrize("outcome", WARNED_OF)
@pytest.mark.parametrize("name", WATCHED)
def test_a_remedy_names_only_parameters_of_the_estimator(name, outcome):
    model = estimators()[name]._example()
    model.solution_ = Solution(np.zeros(1), outcome, "newton", steps=3, gap=0.1)
    (message,) = warned(lambda: Watched._warn_unless_converged(model))
    has = model.get_params(deep=False)
    assert named(message) <= set(has)
    assert ("another solver" in message) == ("solver" in has)
    if outcome is Outcome.STEPS_EXHAUSTED and "max_iter" in has:
        assert "Raise max_iter" in message
    if outcome is Outcome.OUT_OF_TIME:
        assert "Raise th.config(max_time=...)" in message
    if outcome is Outcome.DIVERGED:
        assert bool(set(STEP_SIZES) & set(has)) == ("lower" in message)


@pytest.mark.parametrize("name", LIMITED)
def test_one_iteration_is_reported_as_it_was(name):
    model = ESTIMATORS[name].__sklearn_clone__().set_params(max_iter=1)
    if "tol" in model.get_params(deep=False) and model.tol is not None:
        model.set_params(tol=1e-14)
    rows = suited(model, X[:120])
    for message in warned(lambda: model.fit(rows, targets(model)[:120])):
        assert name in message
        assert named(message) <= set(model.get_params(deep=False))
        assert not re.search(r"\b0 iterations", message)


@pytest.mark.parametrize("kind", [th.BayesianRidge, th.ARDRegression])
def test_the_step_after_the_run_of_the_solver_counts(kind):
    rows, y = X[:100], X[:100] @ np.arange(6.0) + np.random.default_rng(0).standard_normal(100)
    model = kind(max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"\(.*, 1 iteration, .*changes? of .* \d"):
        model.fit(rows, y)
    assert model.n_iter_ == model.solution_.steps == 1
    assert 1e-6 < model.solution_.gap < np.inf
    model = kind().fit(rows, y)
    assert model.n_iter_ == model.solution_.steps > 1
    assert model.solution_.gap <= model.tol


def test_a_gap_of_rounding_errors_is_no_reason_to_warn():
    """One Newton step can be exact, even if rounding exceeds the requested tolerance."""
    random = np.random.default_rng(1)
    rows, y = random.standard_normal((60, 3)), random.integers(0, 3, 60)
    model = th.LinearSVC(tol=1e-14, max_iter=1)
    assert warned(lambda: model.fit(rows, y)) == []
    assert model.solution_.gap < 1e-14
    far = th.LinearSVC(tol=1e-14, max_iter=1)
    (message,) = warned(lambda: far.fit(rows, (rows[:, 0] > 0).astype(int)))
    assert "maximum number of iterations" in message
    assert far.solution_.gap > 1e-6
