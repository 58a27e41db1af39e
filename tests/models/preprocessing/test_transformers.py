"""What holds of every transformer: scikit-learn's checks, names, tables, precision, sources."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import thetahat as th
from tests.models.preprocessing.transformer_cases import BITS, CASES, SETTINGS, TRANSFORMERS

NAMES = ["a", "b", "c", "d"]

each = pytest.mark.parametrize(
    "transformer", CASES, ids=[f"{type(case).__name__}{i}" for i, case in enumerate(CASES)]
)


@each
@pytest.mark.filterwarnings("ignore::thetahat.errors.IllConditionedWarning")
def test_scikit_learn_checks(transformer):
    check_estimator(transformer, on_skip=None)


def test_settings_are_those_of_transformers():
    assert set(SETTINGS) <= set(TRANSFORMERS)
    assert {"Whitening", "AnscombeTransform"} <= set(TRANSFORMERS)


@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(transformer, dtype):
    single = clone(transformer).fit_transform(BITS.astype(dtype))
    assert single.dtype == dtype
    assert dtype.__name__ in get_tags(transformer).transformer_tags.preserves_dtype
    np.testing.assert_allclose(single, clone(transformer).fit_transform(BITS), atol=1e-5)


@each
@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pd", "pl", "pa"])
def test_tables_go_in(transformer, table):
    columns = {name: BITS[:, j] for j, name in enumerate(NAMES)}
    model = clone(transformer).fit(table(columns))
    assert model.feature_names_in_.tolist() == NAMES
    expected = clone(transformer).fit_transform(BITS)
    np.testing.assert_allclose(model.transform(table(columns)), expected, rtol=1e-13, atol=1e-15)


@each
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_tables_come_out(transformer, container):
    table = pd.DataFrame(BITS, columns=NAMES, index=np.arange(60) + 100)
    model = clone(transformer).set_output(transform=container)
    result = model.fit_transform(table)
    names = model.get_feature_names_out()
    assert list(result.columns) == list(names)
    assert len(set(names)) == len(names) == result.shape[1]
    assert container == "polars" or result.index.equals(table.index)


@each
def test_a_file_is_transformed_as_rows_in_memory(transformer, tmp_path):
    np.save(tmp_path / "rows.npy", BITS)
    source = th.scan(tmp_path / "rows.npy")
    if not transformer._streams:
        with pytest.raises(th.errors.CapabilityError, match="rows in memory"):
            clone(transformer).fit(source)
        return
    in_memory = clone(transformer).fit(BITS)
    np.testing.assert_array_equal(
        clone(transformer).fit_transform(source), in_memory.transform(BITS)
    )
    np.testing.assert_array_equal(in_memory.transform(source), in_memory.transform(BITS))
    with pytest.raises(th.errors.DataError, match="X has 3 features"):
        in_memory.transform(th.scan(tmp_path / "rows.npy", features=[0, 1, 2]))


@each
def test_threads_do_not_change_bits(transformer):
    rows = np.random.default_rng(0).integers(0, 2, size=(40_000, 4)).astype(float)
    results = []
    for threads in (1, 2):
        with th.config(threads=threads):
            model = clone(transformer)
            if isinstance(transformer, th.SimilarityFeatures):
                model.set_params(landmarks=3, random_state=0)
            results.append(model.fit_transform(rows))
    assert np.array_equal(*results)


@each
def test_a_pipeline_holds_it(transformer):
    y = BITS @ [1.0, 2.0, -1.0, 0.5] + 3.0
    model = make_pipeline(clone(transformer), th.Ridge(alpha=1e-3)).fit(BITS, y)
    assert model.score(BITS, y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(BITS), model.predict(BITS))


@each
def test_results_too_large_for_memory_are_refused_before_they_are_made(transformer):
    model = clone(transformer).fit(BITS)
    with (
        th.config(memory=100),
        pytest.raises(th.errors.MemoryBudgetError, match=f"{type(model).__name__}: 60 rows of"),
    ):
        model.transform(BITS)


@pytest.mark.parametrize(
    "transformer", [case for case in CASES if hasattr(case, "inverse_transform")]
)
def test_the_way_back(transformer):
    model = clone(transformer).fit(BITS)
    there = model.transform(BITS)
    tolerance = 1e-12 if not isinstance(model, th.AnscombeTransform) else 0.3
    np.testing.assert_allclose(model.inverse_transform(there), BITS, atol=tolerance)
    if not isinstance(model, th.AnscombeTransform):
        with pytest.raises(th.errors.DataError, match="X has 1 columns, but transform returns 4"):
            model.inverse_transform(there[:, :1])
