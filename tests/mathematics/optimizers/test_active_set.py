"""Systems that are solved while columns come and go: as if each were solved anew."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.optimizers.coordinate.active_set import ActiveSet

RANDOM = np.random.default_rng(3)
COLUMNS = RANDOM.standard_normal((300, 400))
GRAM = COLUMNS @ COLUMNS.T
L2 = RANDOM.random(300)


def wander(face, changes, rounds=25):
    """Members and solutions of a face whose columns come and go at random."""
    random, wanted = np.random.default_rng(0), np.zeros(300, dtype=bool)
    for _ in range(rounds):
        some = random.permutation(300)[: random.integers(0, changes)]
        wanted[some] = random.random(len(some)) < 0.7
        assert not len(face.move_to(GRAM, L2, wanted))
        aim = random.standard_normal(np.count_nonzero(wanted))
        yield wanted, face.members, aim, face.solve(aim)


@pytest.mark.parametrize("changes", [3, 30, 290])
def test_a_face_solves_its_own_system(changes):
    """Few who leave are held at zero, and many make the base anew."""
    for wanted, members, aim, found in wander(ActiveSet(), changes):
        np.testing.assert_array_equal(np.sort(members), np.flatnonzero(wanted))
        within = GRAM[np.ix_(members, members)] + np.diag(L2[members])
        np.testing.assert_allclose(within @ found, aim, atol=1e-9)


def test_threads_change_no_bit():
    def results(threads):
        with th.config(threads=threads):
            return [found for *_, found in wander(ActiveSet(shared=True), 60)]

    for one, two in zip(results(1), results(2), strict=True):
        np.testing.assert_array_equal(one, two)


def test_another_ridge_is_another_system():
    face, wanted = ActiveSet(), np.arange(300) < 20
    for l2 in (L2, L2 + 1.0):
        face.move_to(GRAM, l2, wanted)
        within = GRAM[:20, :20] + np.diag(l2[:20])
        np.testing.assert_allclose(within @ face.solve(np.ones(20)), np.ones(20), atol=1e-10)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_dependent_columns_are_refused_and_their_likes_taken_once_they_left(noise):
    columns = np.concatenate([COLUMNS[:30], COLUMNS[:1] + noise * COLUMNS[40:41]])
    gram, none = columns @ columns.T, np.zeros(31)
    face, wanted = ActiveSet(), np.arange(31) < 30
    assert not len(face.move_to(gram, none, wanted))
    assert face.move_to(gram, none, np.ones(31, dtype=bool)).tolist() == [30]
    np.testing.assert_array_equal(np.sort(face.members), np.arange(30))
    first = np.arange(30)[face.members == 0]
    np.testing.assert_allclose(face.explain(gram, np.array([30]))[0][first], 1.0, atol=1e-5)
    assert not len(face.move_to(gram, none, np.arange(31) > 0))  # the copy in place of the first
    met = gram[np.ix_(face.members, face.members)] @ face.solve(np.ones(30))
    np.testing.assert_allclose(met, 1.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_more_columns_than_rank(seed):
    """As many as there are rows become members, and explain the others."""
    columns = np.random.default_rng(seed).standard_normal((60, 40))
    gram, none = columns @ columns.T, np.zeros(60)
    face, wanted = ActiveSet(rank=40), np.arange(60) < 25
    assert not len(face.move_to(gram, none, wanted))
    outside = face.move_to(gram, none, np.ones(60, dtype=bool))
    assert len(outside) == 20
    assert sorted([*face.members, *outside]) == list(range(60))
    table = face.explain(gram, outside)
    np.testing.assert_allclose(table @ columns[face.members], columns[outside], atol=1e-8)


def test_no_members():
    face = ActiveSet()
    assert not len(face.move_to(GRAM, L2, np.zeros(300, dtype=bool)))
    assert face.solve(np.empty(0)).shape == (0,)
