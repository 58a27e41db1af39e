"""Nyström's approximation of rows that are read block by block."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import thetahat as th
from thetahat.errors import CapabilityError


@pytest.fixture
def source(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((700, 3))
    rows = np.column_stack([X, np.sin(2 * X[:, 0]) + 0.1 * random.standard_normal(700)])
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,c,y", comments="")
    return th.scan(path, target="y")


@pytest.mark.parametrize("rule", ["uniform", "kmeans++", "leverage"])
def test_the_centres_are_those_of_the_same_rows_in_memory(source, rule, monkeypatch):
    monkeypatch.setattr("thetahat.objective.kernel.centres.FEWEST_ROWS", 100)
    X, y, _ = source.arrays()
    model = th.Nystroem(n_components=20, centers=rule, random_state=0)
    blocks, whole = clone(model).fit(source), clone(model).fit(X)
    np.testing.assert_array_equal(blocks.component_indices_, whole.component_indices_)
    np.testing.assert_array_equal(blocks.components_, whole.components_)
    np.testing.assert_array_equal(blocks.normalization_, whole.normalization_)
    ridge = th.LinearModel("squared", th.penalties.L2(1e-3))
    streamed = make_pipeline(clone(model), clone(ridge)).fit(source)
    loaded = make_pipeline(clone(model), clone(ridge)).fit(X, y)
    np.testing.assert_allclose(streamed.predict(source), loaded.predict(X), atol=1e-8)
    assert np.mean((streamed.predict(source) - y) ** 2) < 0.5 * np.var(y)


def test_a_precomputed_matrix_must_be_in_memory(source):
    with pytest.raises(CapabilityError, match="precomputed kernel matrix must be in memory"):
        th.Nystroem("precomputed").fit(source)


@pytest.mark.parametrize("model", [th.KernelModel(n_components=20), th.KernelRidge()])
def test_models_that_need_all_rows_name_what_reads_blocks(source, model):
    with pytest.raises(CapabilityError, match=r"LinearModel to the features of th\.Nystroem"):
        model.fit(source)
