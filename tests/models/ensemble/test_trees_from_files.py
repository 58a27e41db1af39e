"""Boosting and forests fitted to rows that are read from files: the same trees as in memory."""

import gc
import os
import tempfile

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from thetahat.data.on_disk import code_store
from thetahat.foundation.errors import CapabilityError, DataError, MemoryBudgetError

NAMES = ["a", "b", "c"]


def table(n=1_500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[rng.random((n, 3)) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 1]) + 0.1 * rng.standard_normal(n)
    frame = pd.DataFrame(X, columns=NAMES)
    frame["y"], frame["label"] = y, np.where(y > 1, "high", np.where(y > 0, "middle", "low"))
    frame["w"] = rng.integers(0, 3, n).astype(float)
    frame["town"] = pd.Series(rng.choice(["Ulm", "Bonn", "Kiel"], n))
    frame.loc[frame["town"] == "Kiel", "y"] += 1.0
    frame.loc[rng.random(n) < 0.02, "town"] = None
    return frame


def parts(folder, frame, n_parts=3):
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
        frame.iloc[rows].to_parquet(folder / f"part-{number}.parquet", row_group_size=400)
    return folder / "part-*.parquet"


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 512)


@pytest.mark.parametrize("memory", [None, 1_000], ids=["in memory", "spilled"])
def test_boosting_is_the_same_bit_for_bit(tmp_path, memory):
    frame = table()
    source = th.scan(parts(tmp_path, frame), target="y", weight="w", features=NAMES)
    model = th.HistGradientBoostingRegressor(max_iter=5, early_stopping=True, random_state=0)
    with th.config(memory=memory):
        streamed = th.HistGradientBoostingRegressor(**model.get_params()).fit(source)
    model.fit(frame[NAMES], frame["y"], frame["w"])
    np.testing.assert_array_equal(streamed.predict(source), model.predict(frame[NAMES]))
    np.testing.assert_array_equal(streamed.validation_score_, model.validation_score_)
    expected = model.score(frame[NAMES], frame["y"], frame["w"])
    np.testing.assert_allclose(streamed.score(source), expected, rtol=1e-12)


def test_boosting_is_the_same_with_more_rows_than_are_sampled_for_bins(tmp_path, monkeypatch):
    monkeypatch.setattr("thetahat.data.bins.SAMPLE_ROWS", 700)
    monkeypatch.setattr(code_store, "SAMPLE_ROWS", 700)
    frame = table()
    source = th.scan(parts(tmp_path, frame), target="label", features=NAMES)
    model = th.HistGradientBoostingClassifier(max_iter=3, random_state=0)
    streamed = th.HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(source)
    model.fit(frame[NAMES], frame["label"])
    expected = model.predict_proba(frame[NAMES])
    np.testing.assert_array_equal(streamed.predict_proba(source), expected)
    assert streamed.score(source) == model.score(frame[NAMES], frame["label"])


@pytest.mark.parametrize("kind", ["HistGradientBoosting", "RandomForest"])
def test_categories_follow_from_the_schema(tmp_path, kind):
    frame, features = table(), [*NAMES, "town"]
    source = th.scan(parts(tmp_path, frame), target="y", features=features)
    # A tree of a forest sends the rows that it was grown on to the same leaves.
    options = {"max_iter": 4}
    if kind == "RandomForest":
        options = {"n_estimators": 3, "bootstrap": False}
    histograms = {} if kind == "HistGradientBoosting" else {"splits": "histogram"}
    streamed = getattr(th, f"{kind}Regressor")(random_state=0, **options).fit(source)
    model = getattr(th, f"{kind}Regressor")(random_state=0, **options, **histograms)
    model.fit(frame[features], frame["y"])
    np.testing.assert_array_equal(streamed.predict(source), model.predict(frame[features]))
    # Another file, whose categories have other codes.
    few = frame[frame["town"] != "Bonn"]
    few.to_parquet(tmp_path / "few.parquet")
    other = th.scan(tmp_path / "few.parquet", target="y", features=features)
    np.testing.assert_array_equal(streamed.predict(other), model.predict(few[features]))
    assert streamed.score(other) == pytest.approx(model.score(few[features], few["y"]), rel=1e-12)


@pytest.mark.parametrize("memory", [None, 1_000], ids=["in memory", "spilled"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_forests_make_the_same_splits_as_on_histograms(tmp_path, memory, bootstrap):
    """Thresholds lie at the ends of bins, between the same rows."""
    frame = table()
    source = th.scan(parts(tmp_path, frame), target="y", weight="w", features=NAMES)
    with th.config(memory=memory):
        streamed = th.RandomForestRegressor(3, random_state=0, bootstrap=bootstrap).fit(source)
    model = th.RandomForestRegressor(3, random_state=0, bootstrap=bootstrap, splits="histogram")
    counted = frame[frame["w"] > 0]
    model.fit(frame[NAMES], frame["y"], frame["w"])
    if not bootstrap:
        expected = model.predict(counted[NAMES])
        np.testing.assert_array_equal(streamed.predict(counted[NAMES]), expected)
    for ours, theirs in zip(streamed.estimators_, model.estimators_, strict=True):
        np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)


def test_forests_score_out_of_bag_rows_of_files(tmp_path):
    frame = table()
    source = th.scan(parts(tmp_path, frame), target="label", features=NAMES)
    streamed = th.RandomForestClassifier(20, random_state=0, oob_score=True).fit(source)
    model = th.RandomForestClassifier(20, random_state=0, oob_score=True, splits="histogram")
    model.fit(frame[NAMES], frame["label"])
    assert streamed.oob_score_ == pytest.approx(model.oob_score_, abs=0.03)


def test_random_thresholds_divide_the_rows_as_predictions_do(tmp_path):
    """Thresholds are ends of bins, so that coded rows and values reach the same leaves."""
    frame, features = table(), [*NAMES, "town"]
    source = th.scan(parts(tmp_path, frame), target="y", weight="w", features=features)
    forest = th.ExtraTreesRegressor(3, random_state=0, min_samples_leaf=5).fit(source)
    counted = frame[frame["w"] > 0]
    for tree, leaves in zip(forest.estimators_, forest.apply(counted[features]).T, strict=True):
        found = np.bincount(leaves, minlength=tree.tree_.node_count)
        leaf = tree.tree_.feature < 0
        np.testing.assert_array_equal(found[leaf], tree.tree_.n_node_samples[leaf])
        assert tree.tree_.node_count > 20


@pytest.mark.parametrize("memory", [None, 1_000], ids=["in memory", "spilled"])
def test_random_thresholds_of_files_predict_as_those_of_memory(tmp_path, memory):
    frame = table()
    source = th.scan(parts(tmp_path, frame), target="label", features=NAMES)
    model = th.ExtraTreesClassifier(30, random_state=0, bootstrap=True, oob_score=True)
    with th.config(memory=memory):
        streamed = th.ExtraTreesClassifier(**model.get_params()).fit(source)
    model.fit(frame[NAMES], frame["label"])
    assert streamed.oob_score_ == pytest.approx(model.oob_score_, abs=0.03)


@pytest.mark.parametrize("last", [3.0, 30.0])
def test_a_random_threshold_is_uniform_between_the_bins(tmp_path, last):
    """Every end of a bin is drawn, the more often the further away its neighbours are."""
    x = np.repeat([0.0, 1.0, 2.0, last], 5)
    pd.DataFrame({"x": x, "y": x}).to_parquet(tmp_path / "rows.parquet")
    source = th.scan(tmp_path / "rows.parquet", target="y", features=["x"])
    forest = th.ExtraTreesRegressor(300, max_depth=1, random_state=0).fit(source)
    thresholds = [tree.tree_.threshold[0] for tree in forest.estimators_]
    ends, counts = np.unique(np.round(thresholds, 6), return_counts=True)
    assert len(ends) == 3
    shares = [0.25, 0.5, 0.25] if last == 3.0 else [0.5 / 15.5, 7.75 / 15.5, 7.25 / 15.5]
    np.testing.assert_allclose(counts / 300, shares, atol=0.08)


def mapped(folder):
    """Files of a folder that are mapped into memory; those without a name as well."""
    with open("/proc/self/maps") as maps:
        return [line for line in maps if str(folder) in line]


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
@pytest.mark.parametrize(
    "failure", [None, KeyboardInterrupt, RuntimeError], ids=["none", "interrupt", "error"]
)
def test_files_of_codes_are_removed(tmp_path, monkeypatch, failure):
    frame = table()
    source = th.scan(parts(tmp_path, frame), target="y", features=NAMES)
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spilled))
    seen = []

    def progress(*arguments):
        seen.append((os.listdir(spilled), len(mapped(spilled))))
        if failure is not None:
            raise failure("enough")

    import thetahat.models.ensemble.gradient_boosting.tree_rounds as rounds

    grow = rounds.grow_tree
    monkeypatch.setattr(rounds, "grow_tree", lambda *a, **k: (progress(), grow(*a, **k))[1])
    model = th.HistGradientBoostingRegressor(max_iter=2, random_state=0)
    with th.config(memory=1_000):
        if failure is None:
            model.fit(source)
        else:
            with pytest.raises(failure):
                model.fit(source)
    gc.collect()
    assert seen[0][1] >= 1, "the codes were not spilled"
    assert seen[0][0] == [], "the file has a name while the fit runs"
    assert os.listdir(spilled) == []
    assert not mapped(spilled)


def test_a_full_disk_is_a_clear_error(tmp_path, monkeypatch):
    source = th.scan(parts(tmp_path, table()), target="y", features=NAMES)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(code_store._Store, "write", full)
    with th.config(memory=1_000), pytest.raises(MemoryBudgetError, match="TMPDIR"):
        th.HistGradientBoostingRegressor(max_iter=2).fit(source)


def test_what_cannot_be_streamed_names_what_can(tmp_path):
    source = th.scan(parts(tmp_path, table()), target="y", features=NAMES)
    with pytest.raises(CapabilityError, match="HistGradientBoostingRegressor"):
        th.DecisionTreeRegressor().fit(source)
    for forest in (th.RandomForestRegressor, th.ExtraTreesRegressor):
        with pytest.raises(CapabilityError, match=r'one byte per value.*splits="exact"'):
            forest(2, splits="exact").fit(source)
    with pytest.raises(CapabilityError, match="squared_error"):
        th.RandomForestRegressor(2, criterion="absolute_error").fit(source)
    with pytest.raises(CapabilityError, match="X_val"):
        th.HistGradientBoostingRegressor().fit(source, X_val=source, y_val=[1.0])


def test_columns_of_text_are_refused_by_models_of_numbers(tmp_path):
    source = th.scan(parts(tmp_path, table()), target="y", features=["town"])
    with pytest.raises(DataError, match="'town' is categorical"):
        th.LinearRegression().fit(source)


def test_a_checkpoint_belongs_to_its_rows(tmp_path):
    path = parts(tmp_path, table())
    model = th.HistGradientBoostingRegressor(
        max_iter=3, random_state=0, checkpoint=str(tmp_path / "snapshot.npz")
    )
    streamed = model.fit(th.scan(path, target="y", features=NAMES)).predict(table()[NAMES])
    plain = th.HistGradientBoostingRegressor(max_iter=3, random_state=0)
    expected = plain.fit(table()[NAMES], table()["y"]).predict(table()[NAMES])
    np.testing.assert_array_equal(streamed, expected)
