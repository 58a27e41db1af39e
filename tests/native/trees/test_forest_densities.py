"""Forests of several classes at few rows, against the densities of each forest at many."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import thetahat as th
from thetahat import _native

SETTINGS = [
    {},
    {"covariance_type": "diag"},
    {"criterion": "ise", "leaf": "uniform", "margin": 0.1, "min_samples_leaf": 0},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("d", [1, 3])
def test_densities_of_few_rows_are_those_of_many(settings, d):
    random = np.random.default_rng(4)
    compiled, forests = _native.ForestDensities(), []
    for shift in (0.0, 1.0):
        X = random.standard_normal((80, d)) + shift
        forest = th.DensityForest(7, random_state=0, **settings).fit(X)
        forest.density_.add_to(compiled)
        forests.append(forest)
    rows = np.vstack([random.standard_normal((50, d)), np.full((1, d), 90.0)])
    found = np.empty((51, 2))
    compiled.logs(rows, np.array([0.0, 2.0]), found)
    expected = np.column_stack([each.log_density(rows) for each in forests])
    assert_allclose(found, expected + np.log(7) + [0.0, 2.0], rtol=1e-12)


def test_forests_whose_walks_could_leave_them_are_refused():
    forest = th.DensityForest(2, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))
    density = forest.density_
    packed, box, place = density._packed, density.trees[0].cells.box, density._place
    means, factors, scales = density._gaussians
    good = {
        "nodes": packed._bytes, "roots": packed.roots, "place": place, "low": box.low,
        "high": box.high, "means": means, "factors": factors.reshape(len(scales), -1),
        "log_scale": scales,
    }  # fmt: skip
    leaf = np.flatnonzero(packed.nodes["feature"] < 0)[0]
    nodes, far, back = packed.nodes, packed.nodes.copy(), packed.nodes.copy()
    far["feature"][0], back["child"][0] = 2, 0
    assert nodes["feature"][0] >= 0
    lost = np.where(np.arange(len(place)) == leaf, len(scales), place).astype(np.int32)
    as_bytes = [each.view(np.uint8).reshape(len(nodes), -1) for each in (far, back)]
    for bad, message in (
        ({"nodes": as_bytes[0]}, "must name a column"),
        ({"nodes": as_bytes[1]}, "after their parent"),
        ({"place": lost}, "row of the means"),
        ({"roots": packed.roots[::-1].copy()}, "bound the nodes"),
        ({"factors": good["factors"][:, :3].copy()}, "a triangle or a diagonal"),
        ({"log_scale": scales[1:].copy()}, "one entry per leaf"),
        ({"low": box.low[:1].copy()}, "one number per column"),
    ):
        with pytest.raises(ValueError, match=message):
            _native.ForestDensities().add(**(good | bad))
