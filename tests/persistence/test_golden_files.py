"""Files of every format there ever was still load, and answer as they did."""

import numpy as np
import pytest

import thetahat as th
from tests.persistence.golden_files import GOLDEN, VERSION, answer
from thetahat.catalog import estimators

FILES = sorted(GOLDEN.glob("*/*.theta"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_loads_and_answers_as_it_did(path):
    found, expected = answer(th.load(path)), np.load(path.with_suffix(".npy"), allow_pickle=False)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(found, expected)


def test_every_estimator_has_a_golden_file():
    kept = {path.stem for path in (GOLDEN / str(VERSION)).glob("*.theta")}
    missing = set(estimators()) - kept
    assert not missing, f"python -m tests.persistence.golden_files writes {sorted(missing)}"


@pytest.mark.parametrize("version", [1, 2])
def test_gains_of_all_columns_become_those_of_the_columns_in_use(version):
    model = th.load(GOLDEN / str(version) / "RandomForestRegressor.theta")
    shares = [tree.feature_importances_ for tree in model.estimators_]
    np.testing.assert_allclose(model.feature_importances_, np.mean(shares, axis=0), rtol=1e-8)
    assert model._forest.gains.dtype.names
