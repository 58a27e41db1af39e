"""Faces by 150 components, and a picture of zeros and ones at low rank."""

import numpy as np
import pytest

import thetahat as th


@pytest.fixture(scope="module")
def faces(example):
    return example("eigenfaces")


def test_sizes_of_the_course(faces):
    assert faces.X.shape[1] == 65_000
    assert faces.model.components_.shape == (150, 65_000)
    assert "A face has 65,000 pixels; its weights are 150 numbers." in faces.printed


def test_eigenfaces_are_orthonormal_directions_of_the_faces(faces):
    V = faces.model.components_[:20].astype(float)
    np.testing.assert_allclose(V @ V.T, np.eye(20), atol=1e-4)
    centred = faces.X - faces.X.mean(axis=0)
    values = np.linalg.eigvalsh((centred @ centred.T).astype(float))[::-1]
    expected = values[:20] / (len(centred) - 1)
    np.testing.assert_allclose(faces.model.explained_variance_[:20], expected, rtol=1e-3)


def test_more_eigenfaces_explain_more_of_new_faces(faces):
    shares = list(faces.kept.values())
    assert shares == sorted(shares)
    assert shares[-1] > 0.97
    assert f"150 eigenfaces explain {shares[-1]:.1%}" in faces.printed


@pytest.mark.parametrize("k", [5, 20, 80])
def test_low_rank_of_zeros_and_ones_gives_shades_of_grey(faces, k):
    picture = faces.picture
    assert set(np.unique(picture)) == {0.0, 1.0}
    found = th.lowrank.best_rank(picture, k)
    grey = found.matrix()
    assert np.linalg.matrix_rank(grey) == k
    assert np.mean((grey > 0.02) & (grey < 0.98)) > 0.2
    singular = np.linalg.svd(picture, compute_uv=False)
    error = np.linalg.norm(picture - grey)
    assert error == pytest.approx(np.sqrt(np.sum(singular[k:] ** 2)), rel=1e-8)
    wrong = np.mean((grey > 0.5) != (picture > 0.5))
    assert wrong < {5: 0.06, 20: 0.04, 80: 0.01}[k]
    assert f"{wrong:.1%} of the pixels are wrong." in faces.printed
