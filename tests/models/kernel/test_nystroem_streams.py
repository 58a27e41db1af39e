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


@pytest.mark.parametrize("model", [th.KernelLogisticRegression(n_components=20), th.KernelRidge()])
def test_models_that_need_all_rows_name_what_reads_blocks(source, model):
    with pytest.raises(CapabilityError, match=r"LinearModel to the features of th\.Nystroem"):
        model.fit(source)


@pytest.mark.parametrize("memory", [None, 200_000])
@pytest.mark.parametrize(("loss", "rule"), [("squared", "uniform"), ("huber", "leverage")])
def test_a_kernel_model_of_a_file_is_that_of_its_rows(source, loss, rule, memory, monkeypatch):
    """Whether there is memory for the features of all rows, or they are computed in each pass."""
    monkeypatch.setattr("thetahat.objective.kernel.centres.FEWEST_ROWS", 100)
    if memory is not None:
        monkeypatch.setattr("thetahat.models.kernel.blocks.available_memory", lambda: memory)
    X, y, _ = source.arrays()
    model = th.KernelModel(loss, n_components=20, centers=rule, random_state=0)
    blocks, whole = clone(model).fit(source), clone(model).fit(X, y)
    np.testing.assert_array_equal(blocks.support_, whole.support_)
    np.testing.assert_array_equal(blocks.X_fit_, whole.X_fit_)
    np.testing.assert_allclose(blocks.predict(source), whole.predict(X), atol=1e-6)
    assert blocks.solution_.reason.startswith("Nyström's approximation: 20 of 700 rows")
    assert np.mean((blocks.predict(source) - y) ** 2) < 0.8 * np.var(y)


@pytest.mark.parametrize("loss", ["logistic", "softmax_cross_entropy"])
def test_a_kernel_classifier_of_a_file_with_weights(loss, tmp_path):
    random = np.random.default_rng(1)
    X, weight = random.standard_normal((400, 2)), random.integers(1, 4, 400)
    labels = np.where((X**2).sum(axis=1) < 1, "in", "out")
    path = tmp_path / "labels.csv"
    lines = [f"{a},{b},{w},{label}" for (a, b), w, label in zip(X, weight, labels, strict=True)]
    path.write_text("\n".join(["a,b,w,label", *lines]))
    source = th.scan(path, target="label", weight="w")
    model = th.KernelModel(loss, n_components=30, random_state=0)
    blocks, whole = clone(model).fit(source), clone(model).fit(X, labels, weight)
    np.testing.assert_allclose(blocks.predict_proba(source), whole.predict_proba(X), atol=1e-5)
    assert np.mean(blocks.predict(source) == labels) > 0.9


@pytest.mark.parametrize("rule", ["uniform", "kmeans++", "leverage"])
def test_rows_of_weight_zero_are_no_centres(rule, tmp_path, monkeypatch):
    monkeypatch.setattr("thetahat.objective.kernel.centres.FEWEST_ROWS", 50)
    random = np.random.default_rng(2)
    X, weight = random.standard_normal((300, 2)), random.integers(0, 4, 300).astype(float)
    y, used = np.sin(X[:, 0]), weight > 0
    np.save(tmp_path / "all.npy", np.column_stack([X, y, weight]))
    np.save(tmp_path / "used.npy", np.column_stack([X, y, weight])[used])
    model = th.KernelModel("squared", th.kernels.RBF(1.0), n_components=10, centers=rule)
    model.set_params(random_state=0)
    whole = clone(model).fit(X, y, weight)
    every = clone(model).fit(th.scan(tmp_path / "all.npy", target=2, weight=3))
    some = clone(model).fit(th.scan(tmp_path / "used.npy", target=2, weight=3))
    assert used[every.support_].all()
    np.testing.assert_array_equal(every.support_, whole.support_)
    np.testing.assert_array_equal(every.X_fit_, some.X_fit_)
    np.testing.assert_allclose(every.predict(X), some.predict(X), atol=1e-8)


def test_a_kernel_model_of_a_file_with_few_rows_is_exact(source):
    X, y, _ = source.arrays()
    blocks, whole = th.KernelModel().fit(source), th.KernelModel().fit(X, y)
    np.testing.assert_array_equal(blocks.dual_coef_, whole.dual_coef_)


def test_an_exact_kernel_model_needs_all_rows_in_memory(source):
    with pytest.raises(CapabilityError, match=r"n_components=1000, or load the rows"):
        th.KernelModel(n_components=None).fit(source)
    with pytest.raises(CapabilityError, match="precomputed kernel matrix must be in memory"):
        th.KernelModel(kernel="precomputed").fit(source)
