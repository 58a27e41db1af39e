"""Row weights for pipelines: each step that takes weights gets them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 3))
Y = X[:, 0] + RANDOM.normal(size=90)
WEIGHT = RANDOM.random(90)


def test_an_evaluation_gives_weights_to_the_steps(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    model = make_pipeline(th.Standardizer(), th.Ridge())
    found = th.evaluate(model, X, Y, sample_weight=WEIGHT).scores["r2"]
    rows = th.scan(tmp_path / "rows.npy", target=Y, weight=WEIGHT)
    np.testing.assert_allclose(found, th.evaluate(model, rows).scores["r2"], rtol=1e-9)


def test_a_search_fits_the_best_pipeline_with_weights():
    grid = {"ridge__alpha": [0.1, 10.0]}
    found = th.search(
        make_pipeline(PowerTransformer(), th.Ridge()), grid, X, Y, sample_weight=WEIGHT
    )
    rows = PowerTransformer().fit_transform(X)
    expected = th.Ridge(alpha=found.best["ridge__alpha"]).fit(rows, Y, WEIGHT)
    np.testing.assert_allclose(found.model[-1].coef_, expected.coef_)


def test_a_last_step_without_weights_is_refused():
    model = make_pipeline(th.Standardizer(), th.KNeighborsRegressor())
    with pytest.raises(th.errors.CapabilityError, match="has no parameter sample_weight"):
        th.evaluate(model, X, Y, sample_weight=WEIGHT)
