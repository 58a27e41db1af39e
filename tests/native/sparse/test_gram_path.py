"""Paths on a Gram matrix: every penalty against the conditions of its optimum."""

import numpy as np
import pytest

from thetahat import _native


def problem(n, d, kind="plain"):
    random = np.random.default_rng(n + d)
    X = random.standard_normal((n, d))
    if kind == "alike":
        X += 3 * random.standard_normal((n, 1))
    if kind == "dependent":
        X[:, d // 2 :] = X[:, : d - d // 2]
    if kind == "empty column":
        X[:, 0] = 0.0
    y = X @ (random.standard_normal(d) * (random.random(d) < 0.4)) + random.standard_normal(n)
    return X.T @ X, X.T @ y, float(y @ y)


def walk(
    gram, start, yy, l1, l2, lower=-np.inf, *, first=None, tolerance=1e-9, most=500, once=False
):
    count, d = len(l1), len(start)
    betas, steps = np.full((count, d), np.nan), np.zeros(count, dtype=np.int64)
    values, gaps = np.full((2, count), np.nan)
    first = np.zeros(d) if first is None else first
    solved = _native.gram_path(
        gram,
        start,
        yy,
        l1,
        l2,
        lower,
        first,
        tolerance * yy,
        0.0,
        most,
        np.inf,
        once,
        betas,
        values,
        gaps,
        steps,
    )
    return solved, betas, values, gaps, steps


def violation(gram, start, beta, l1, l2, lower):
    """How far −∇ is from the subdifferential of the penalty, at most over the columns."""
    slopes = start - gram @ beta - l2 * beta
    at_zero = slopes - l1 if lower == 0 else np.abs(slopes) - l1
    return np.max(np.where(beta != 0, np.abs(slopes - l1 * np.sign(beta)), at_zero))


@pytest.mark.parametrize("lower", [-np.inf, 0.0])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["plain", "alike", "dependent", "empty column"])
@pytest.mark.parametrize(("n", "d"), [(40, 1), (60, 7), (200, 40), (400, 130)])
def test_every_penalty_is_at_its_optimum(n, d, kind, ratio, lower):
    gram, start, yy = problem(n, d, kind)
    alphas = np.geomspace(1, 1e-3, 40) * np.abs(start).max() / ratio
    l1, l2 = alphas * ratio, alphas * (1 - ratio)
    solved, betas, values, gaps, steps = walk(gram, start, yy, l1, l2, lower)
    if kind != "dependent":  # two columns that are one have no face of their own
        assert solved == 40
    steepest = np.linalg.eigvalsh(gram)[-1]
    for beta, value, gap, a, b in zip(betas[:solved], values, gaps, l1, l2, strict=False):
        assert (beta >= lower).all()
        assert gap <= 1e-9 * yy
        # The gap bounds the distance in F, whose curvature is at most the largest eigenvalue.
        slack = np.sqrt(2 * (steepest + b) * 1e-9 * yy) + 1e-9
        assert violation(gram, start, beta, a, b, lower) <= slack
        smooth = yy / 2 - start @ beta + beta @ gram @ beta / 2
        expected = smooth + a * np.abs(beta).sum() + b / 2 * beta @ beta
        assert value == pytest.approx(expected, rel=1e-10)
    assert (steps[:solved] <= 500).all()


def test_a_jump_ends_at_rounding():
    gram, start, yy = problem(300, 20)
    alphas = np.geomspace(1, 1e-3, 30) * np.abs(start).max()
    solved, betas, _, _, _ = walk(gram, start, yy, alphas, 0 * alphas, tolerance=1e-13)
    assert solved == 30
    for beta, alpha in zip(betas, alphas, strict=True):
        assert violation(gram, start, beta, alpha, 0.0, -np.inf) <= 1e-9 * np.abs(start).max()


def test_a_start_within_the_tolerance_is_kept_unless_a_step_is_asked_for():
    gram, start, yy = problem(100, 5)
    alphas = np.full(2, 0.1 * np.abs(start).max())
    _, betas, _, _, steps = walk(gram, start, yy, alphas, 0 * alphas)
    assert steps[0] > 0
    assert steps[1] == 0
    np.testing.assert_array_equal(betas[0], betas[1])
    first = betas[0].copy()
    assert walk(gram, start, yy, alphas, 0 * alphas, first=first)[4].tolist() == [0, 0]
    assert (walk(gram, start, yy, alphas, 0 * alphas, first=first, once=True)[4] > 0).all()


def test_the_first_hard_penalty_ends_the_path():
    gram, start, yy = problem(200, 60, "alike")
    alphas = np.array([2.0, 1e-4]) * np.abs(start).max()
    solved, betas, *_ = walk(gram, start, yy, alphas, 0 * alphas, most=1)
    assert solved == 1
    assert not betas[0].any()


def test_a_ridge_has_no_signs_to_keep():
    gram, start, yy = problem(80, 6)
    solved, betas, *_ = walk(gram, start, yy, np.zeros(1), np.full(1, 5.0))
    assert solved == 1
    np.testing.assert_allclose(betas[0], np.linalg.solve(gram + 5 * np.eye(6), start), rtol=1e-9)


def test_sizes_are_checked():
    one, two, whole = np.ones(1), np.ones(2), np.ones(1, dtype=np.int64)

    given = {"gram": np.eye(2), "first": two, "l2": one, "betas": np.ones((1, 2))}

    def call(gram, first, l2, betas):
        _native.gram_path(
            gram, two, 1.0, one, l2, 0.0, first, 1.0, 0.0, 5, np.inf, False, betas, one.copy(),
            one.copy(), whole,
        )  # fmt: skip

    for wrong, rule in (
        ({"gram": np.eye(3)}, "gram must be square"),
        ({"first": one}, "first must have"),
        ({"l2": two}, "one entry per penalty"),
        ({"betas": np.ones((2, 2))}, "a row per penalty"),
    ):
        with pytest.raises(ValueError, match=rule):
            call(**{**given, **wrong})
