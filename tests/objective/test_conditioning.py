"""Conditioning: what a solver finds on other units is the same model of the rows themselves."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from tests.data.chunked import Chunked, OnlyBlocks
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.objective.conditioning import Conditioning, watch_through
from thetahat.objective.predictor import LinearPredictor

N, D = 1500, 3
FAR = np.array([0.0, 1e6, -1e5])


def rows(offset=0.0):
    random = np.random.default_rng(0)
    return random.standard_normal((N, D)) + offset, random.standard_normal(N)


def streamed(X, y):
    facts = dict(n_features=D, has_target=True)
    return OnlyBlocks(rows=Chunked(X=X, y=y, **facts), **facts)


def every_kind():
    X, y = rows(FAR)
    predictor = LinearPredictor(D)
    near = partial(Conditioning.near, predictor=predictor)
    return {
        "near": near(as_source(X, y)),
        "near in a stream": near(streamed(X, y)),
        "ordinary columns": near(as_source(X * 1e9, y), ordinary_columns=True),
        "target unit": near(as_source(X, y)).in_target_unit(3.0),
        "extreme targets": near(as_source(X, y * 1e80)).in_target_unit(),
        "standardised": Conditioning.standardised(
            as_source(X, y),
            predictor,
            centre=FAR,
            scale=np.array([1.0, 2.0, 3.0]),
            level=np.array([0.5]),
            unit=np.array([4.0]),
        ),
    }


@pytest.mark.parametrize("kind", every_kind())
def test_predictions_are_the_same_in_either_units(kind):
    conditioning = every_kind()[kind]
    theta = np.array([1.0, -2.0, 0.5, 3.0])
    inside = conditioning.source.map_rows(
        lambda block: conditioning.predictor.raw(block.X, theta) - block.y
    )
    unit = 1.0 if conditioning.unit is None else conditioning.unit
    X, y = rows(FAR)
    X = X * 1e9 if kind == "ordinary columns" else X
    y = y * 1e80 if kind == "extreme targets" else y
    outside = conditioning.predictor.raw(X, conditioning.back(theta)) - y
    np.testing.assert_allclose(outside / unit, inside, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", every_kind())
@pytest.mark.parametrize("layout", ["flat", "with a scale", "matrix"])
def test_the_way_back_undoes_the_way_there(kind, layout):
    conditioning = every_kind()[kind]
    theta = np.array([1.0, -2.0, 0.5, 3.0])
    theta = {"flat": theta, "with a scale": np.append(theta, 2.0), "matrix": theta[:, None]}[layout]
    unit = 1.0 if conditioning.unit is None else conditioning.unit
    back = conditioning.back(theta)
    assert back.shape == theta.shape
    np.testing.assert_allclose(conditioning.to(back), theta, rtol=1e-9)
    if layout == "with a scale":
        assert back[-1] == 2.0 * unit
    if layout == "matrix":
        np.testing.assert_array_equal(back[:, 0], conditioning.back(theta[:, 0]))


def test_several_outputs_are_turned_back_column_by_column():
    X, y = rows(FAR)
    several = Conditioning.near(as_source(X, y), LinearPredictor(D, 2))
    one = Conditioning.near(as_source(X, y), LinearPredictor(D))
    theta = np.arange(8.0).reshape(4, 2)
    back = several.back(theta.ravel()).reshape(4, 2)
    for column in range(2):
        np.testing.assert_array_equal(back[:, column], one.back(theta[:, column]))


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_far_columns_are_seen_from_near(where):
    X, y = rows(FAR)
    source = as_source(X, y) if where == "memory" else streamed(X, y)
    near = Conditioning.near(source, LinearPredictor(D))
    assert near.centre[0] == 0.0
    np.testing.assert_allclose(near.centre[1:], FAR[1:], rtol=1e-4)
    np.testing.assert_array_equal(near.source.map_rows(lambda block: block.X), X - near.centre)
    np.testing.assert_array_equal(near.source.map_rows(lambda block: block.y), y)


def test_what_needs_no_conditioning_is_left_alone():
    X, y = rows(FAR)
    without = LinearPredictor(D, fit_intercept=False)
    ordinary = as_source(*rows())
    for source, predictor in (
        (as_source(X, y), without),
        (as_source(sp.csr_array(X), y), LinearPredictor(D)),
        (ordinary, LinearPredictor(D)),
    ):
        same = Conditioning.near(source, predictor).in_target_unit()
        assert same.is_identity
        assert same.source is source
        theta = np.ones(predictor.n_parameters)
        assert same.back(theta) is theta
        assert same.to(theta) is theta


def test_the_watch_and_the_solution_are_in_the_units_of_the_data():
    X, y = rows(FAR)
    conditioning = Conditioning.near(as_source(X, y), LinearPredictor(D))
    theta, seen = np.arange(4.0), []
    watch = Watch(on_step=lambda step, theta, value: bool(seen.append(theta)))
    with conditioning.watch(watch) as inner:
        inner(1, theta, 0.0)
    np.testing.assert_array_equal(seen[0], conditioning.back(theta))
    solution = conditioning.solution(Solution(theta, Outcome.CONVERGED, "newton"))
    np.testing.assert_array_equal(solution.theta, conditioning.back(theta))


def test_the_solution_of_an_interrupt_is_turned_back():
    def interrupted():
        interrupt = KeyboardInterrupt()
        interrupt.solution = Solution(np.arange(3.0), Outcome.INTERRUPTED, "newton")
        raise interrupt

    with pytest.raises(KeyboardInterrupt) as raised, watch_through(None, lambda theta: 2 * theta):
        interrupted()
    np.testing.assert_array_equal(raised.value.solution.theta, [0, 2, 4])
