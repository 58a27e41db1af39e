"""Compiled forces of t-SNE and the widths of its neighbourhoods, against plain versions."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.reference.manifold import student_forces as reference
from thetahat import _native


def joint(n, seed=0, share=0.4):
    """Symmetric weights with sum 1, of which some are 0."""
    rng = np.random.default_rng(seed)
    P = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < share)
    P = np.triu(P, 1)
    P[0, n - 1] = 1.0
    P += P.T
    return P / P.sum()


def forces(P, z, freedom=1, angle=0.0, exaggeration=1.0, dtype=np.float64, threads=1):
    stored, gradient = csr_array(P), np.empty_like(z)
    logs, scale = _native.student_forces(
        z, stored.indptr.astype(np.int64), stored.indices.astype(np.int32),
        stored.data.astype(dtype), freedom, angle, exaggeration, gradient, threads,
    )  # fmt: skip
    return stored.data @ np.log(stored.data) + logs + np.log(scale), gradient


@pytest.mark.parametrize(
    ("n", "p"), [(2, 1), (3, 2), (9, 3), (33, 2), (150, 1), (151, 2), (152, 3), (40, 5)]
)
@pytest.mark.parametrize("freedom", [1, 2, 3, 4])
def test_forces_are_those_of_plain_sums(n, p, freedom):
    P, z = joint(n), 3 * np.random.default_rng(1).standard_normal((n, p))
    value, gradient = forces(P, z, freedom)
    expected = reference.divergence(P, z, freedom)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("angle", "most"), [(0.2, 1e-2), (0.5, 4e-2), (1.0, 0.2)])
def test_distant_groups_act_nearly_as_their_points(p, angle, most):
    n = 1500
    z = 20 * np.random.default_rng(2).standard_normal((n, p))
    P = joint(n, share=0.01)
    value, gradient = forces(P, z, max(p - 1, 1), angle, 0.0, np.float32)
    exact = forces(P, z, max(p - 1, 1), 0.0, 0.0)
    np.testing.assert_allclose(value, exact[0], rtol=most)
    assert np.linalg.norm(gradient - exact[1]) <= most * np.linalg.norm(exact[1])


@pytest.mark.parametrize("p", [1, 2, 3])
def test_threads_do_not_change_a_bit(p):
    z = 5 * np.random.default_rng(3).standard_normal((2000, p))
    P = joint(2000, share=0.02)
    found = [forces(P, z, 1, 0.5, 12.0, np.float32, threads) for threads in (1, 2, 5)]
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_at_the_same_place_and_far_away(dtype):
    z = np.repeat(np.random.default_rng(4).standard_normal((20, 2)), 10, axis=0)
    z[-1] = 1e9
    value, gradient = forces(joint(200), z, 1, 0.5, 1.0, dtype)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    z[-1] = np.inf
    assert np.isnan(forces(joint(200), z, 1, 0.5, 1.0, dtype)[0])


def test_neighbours_that_are_no_points_are_refused():
    z, gradient = np.zeros((3, 2)), np.empty((3, 2))
    for near, offset in (([0, 3], [0, 1, 2, 2]), ([0, -1], [0, 1, 2, 2]), ([0, 1], [0, 2, 1, 2])):
        with pytest.raises(ValueError, match=r"neighbour|offset"):
            _native.student_forces(
                z, np.array(offset), np.array(near, dtype=np.int32), np.ones(2), 1, 0.0, 1.0,
                gradient, 1,
            )  # fmt: skip


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 28.0])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_weights_have_the_perplexity(perplexity, scale):
    distance = np.sort(np.random.default_rng(5).uniform(0.1, 3.0, (50, 30)))
    weight = np.empty_like(distance)
    _native.perplexity_weights(distance * scale, perplexity, weight, 2)
    entropy = -(weight * np.log(np.maximum(weight, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), perplexity, rtol=1e-8)
    np.testing.assert_allclose(weight.sum(axis=1), 1.0)
    expected = reference.perplexity_weights(distance, perplexity)
    np.testing.assert_allclose(weight, expected, rtol=1e-6, atol=1e-12)


def test_weights_of_equal_distances():
    distance = np.array([[1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]])
    weight = np.empty_like(distance)
    _native.perplexity_weights(distance, 2.0, weight, 1)
    np.testing.assert_allclose(weight[0], [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-6)
    np.testing.assert_allclose(weight[1], 0.25)
    _native.perplexity_weights(distance, 10.0, weight, 1)
    np.testing.assert_allclose(weight, 0.25)
