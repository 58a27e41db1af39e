"""A step is followed as far as F falls: the compiled kernel against its plain twin."""

import numpy as np
import pytest

from tests.reference import follow_step as twin
from thetahat import _native


def problem(seed=17, k=30, in_use=9):
    random = np.random.default_rng(seed)
    root = random.standard_normal((2 * k, k))
    gram, start = root.T @ root, 20 * random.standard_normal(k)
    beta = np.zeros(k)
    members = random.permutation(k)[:in_use]
    beta[members[:-2]] = random.standard_normal(in_use - 2)  # two are still zero
    return gram, start, beta, members


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("l1", [0.0, 3.0])
@pytest.mark.parametrize("size", [0.1, 1.0, 30.0, 1e4])
def test_like_its_twin(nonnegative, l1, size):
    """Steps of the right length and far too long ones: every kind of target is met."""
    random = np.random.default_rng(1701)
    taken = 0
    for seed in range(30):
        gram, start, beta, members = problem(seed)
        beta = np.abs(beta) if nonnegative else beta
        terms = np.full(30, l1), np.full(30, 0.5), np.full(30, 0.0 if nonnegative else -np.inf)
        downhill = (start - gram @ beta - terms[1] * beta)[members] / 100
        step = size * (downhill + 0.3 * random.standard_normal(9))
        sign = np.where(beta[members] != 0, np.sign(beta[members]), np.sign(step))
        sign = np.abs(sign) if nonnegative else sign
        expected = twin.follow_step(gram, members, step, sign, start, *terms, beta)
        found, slopes = beta.copy(), start - gram @ beta
        fell = _native.follow_step(gram, members, step, sign, start, *terms, found, slopes)
        assert fell == (expected is not None)
        np.testing.assert_allclose(found, beta if expected is None else expected, atol=1e-12)
        np.testing.assert_allclose(slopes, start - gram @ found, atol=1e-8)
        assert (found >= 0).all() or not nonnegative
        taken += fell
    assert taken or size > 1


def test_the_rows_may_be_those_of_a_larger_matrix():
    gram, start, beta, members = problem()
    larger = np.full((40, 40), np.nan)
    larger[:30, :30] = gram
    terms = np.full(30, 1.0), np.zeros(30), np.full(30, -np.inf)
    step, sign = np.zeros(9), np.sign(beta[members])
    slopes = start - gram @ beta
    given = members, step, sign, start, *terms, beta, slopes
    assert not _native.follow_step(larger[:30, :30], *given)


def test_a_step_that_is_not_finite_leads_nowhere():
    gram, start, beta, members = problem()
    terms = np.zeros(30), np.zeros(30), np.full(30, -np.inf)
    slopes, kept = start - gram @ beta, beta.copy()
    step, sign = np.full(9, np.nan), np.sign(beta[members])
    assert not _native.follow_step(gram, members, step, sign, start, *terms, beta, slopes)
    np.testing.assert_array_equal(beta, kept)


def test_wrong_sizes_are_refused():
    one, two, where = np.ones(1), np.ones(2), np.array([0])
    gram = np.eye(2)

    def call(gram=gram, members=where, step=one, start=two, slopes=two):
        given = gram, members, step, one, start, two, two, two, two.copy(), slopes.copy()
        _native.follow_step(*given)

    for wrong, rule in (
        ({"gram": np.eye(3)}, "square"),
        ({"gram": np.ones((4, 4))[::2, ::2]}, "contiguous"),
        ({"members": np.array([2])}, "out of range"),
        ({"members": np.array([-1])}, "out of range"),
        ({"step": two}, "one entry per member"),
        ({"start": one}, "size of beta"),
        ({"slopes": one}, "size of beta"),
    ):
        with pytest.raises(ValueError, match=rule):
            call(**wrong)
