"""Targets of text, categories and Booleans: the classes and the fit that arrays give."""

import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import thetahat as th
from tests.data.on_disk.file_cases import write_arrow, write_parquet, write_stream, write_structured

LABELS = np.array(["setosa", "virginica", "Zürich", "a"])


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 512)


def rows(n=1_301):
    random = np.random.default_rng(1)
    X = random.standard_normal((n, 4))
    return X, LABELS[np.argmax(X + random.standard_normal((n, 4)), axis=1)]


def table(X, y):
    return {**{f"x{j}": column for j, column in enumerate(X.T)}, "label": y}


def write_text(path, columns):
    pyarrow.csv.write_csv(pa.table(columns), path)


def with_dictionary(write):
    def written(path, columns):
        coded = pa.array(columns["label"]).dictionary_encode()
        # A category that no row has is no class.
        more = pa.DictionaryArray.from_arrays(
            coded.indices, pa.concat_arrays([coded.dictionary, pa.array(["unused"])])
        )
        write(path, columns | {"label": more})

    return written


FILES = [
    (".csv", write_text),
    (".parquet", write_parquet),
    (".parquet", with_dictionary(write_parquet)),
    (".arrow", write_arrow),
    (".arrow", with_dictionary(write_arrow)),
    (".ipc", write_stream),
    (".npy", write_structured),
]
NAMES = ["csv", "parquet", "codes", "arrow", "batch", "stream", "npy"]
every_file = pytest.mark.parametrize(("suffix", "write"), FILES, ids=NAMES)


MODELS = {
    "logistic": th.LogisticRegression(),
    "ridge": th.RidgeClassifier(),
    "svc": th.LinearSVC(loss="hinge"),
    "model": th.LinearModel(loss="softmax_cross_entropy"),
    "balanced": th.LogisticRegression(class_weight="balanced"),
    "weighted": th.LogisticRegression(class_weight={"a": 3.0}),
}


def files_and_models():
    """One model with every file and one file with every model; the other pairs are slow."""
    for number, (suffix, write) in enumerate(FILES):
        for name, model in MODELS.items():
            marks = () if name == "logistic" or number == 2 else pytest.mark.slow
            yield pytest.param(suffix, write, model, id=f"{NAMES[number]}-{name}", marks=marks)


@pytest.mark.parametrize(("suffix", "write", "model"), list(files_and_models()))
def test_labels_give_the_classes_and_bits_of_memory(tmp_path, suffix, write, model):
    X, y = rows()
    path = tmp_path / f"rows{suffix}"
    write(path, table(X, y))
    source = th.scan(path, target="label")
    coef, classes = model.fit(X, y).coef_, model.classes_
    model.fit(source)
    assert model.classes_.tolist() == classes.tolist() == sorted(LABELS)
    # A few rows in memory may take LinearSVC's compiled run, which rounds otherwise.
    rounding = 1e-12 if isinstance(model, th.LinearSVC) else 0.0
    np.testing.assert_allclose(model.coef_, coef, rtol=rounding)
    assert model.score(source) == np.mean(model.predict(source) == y)
    assert set(model.predict(source)) <= set(LABELS)
    np.testing.assert_array_equal(source.arrays()[1], y)


@every_file
def test_a_regressor_refuses_labels_with_column_and_value(tmp_path, suffix, write):
    path = tmp_path / f"rows{suffix}"
    X, y = rows(30)
    write(path, table(X, y))
    source = th.scan(path, target="label")
    for model in (th.LinearRegression(), th.LinearModel(), th.HuberRegressor()):
        with pytest.raises(th.errors.DataError, match="needs numbers as the target") as caught:
            model.fit(source)
        for word in ("'label'", path.name, "categorical", repr(str(y[0])), "use a classifier"):
            assert word in str(caught.value)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_missing_labels_are_refused_with_row_and_column(tmp_path, suffix):
    X, y = rows(700)
    labels = pa.array([None if row == 612 else label for row, label in enumerate(y)])
    path = tmp_path / f"rows{suffix}"
    write = {".csv": write_text, ".parquet": write_parquet, ".arrow": write_arrow}[suffix]
    write(path, table(X, labels))
    with pytest.raises(th.errors.DataError, match=r"'label' of rows\..* no label at row 612"):
        th.LogisticRegression().fit(th.scan(path, target="label"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".npy"])
@pytest.mark.parametrize("dtype", [bool, np.int16, np.int64])
def test_booleans_and_integers_stay_what_they_are(tmp_path, suffix, dtype):
    X, y = rows(900)
    y = (y == "a").astype(dtype)
    path = tmp_path / f"rows{suffix}"
    writers = {".csv": write_text, ".parquet": write_parquet, ".arrow": write_arrow}
    writers.get(suffix, write_structured)(path, table(X, y))
    source = th.scan(path, target="label")
    model, expected = th.LogisticRegression().fit(source), th.LogisticRegression().fit(X, y)
    kind = np.int64 if suffix == ".csv" and dtype is not bool else dtype
    assert model.classes_.dtype == model.predict(source).dtype == kind
    assert model.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    # For a regressor they are numbers.
    regression = th.LinearRegression()
    expected = regression.fit(X, y).coef_
    np.testing.assert_array_equal(regression.fit(source).coef_, expected)


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, 24), (np.float64, 53)])
def test_integers_that_rounding_would_merge_are_refused(tmp_path, dtype, bits):
    X, y = rows(100)
    labels = np.int64(2) ** bits + (y == "a")
    write_parquet(tmp_path / "rows.parquet", table(X.astype(dtype), labels))
    source = th.scan(tmp_path / "rows.parquet", target="label")
    with pytest.raises(th.errors.DataError, match="cannot be distinguished in float"):
        th.LogisticRegression().fit(source)
    write_parquet(tmp_path / "rows.parquet", table(X.astype(dtype), labels - 2))
    model = th.LogisticRegression().fit(th.scan(tmp_path / "rows.parquet", target="label"))
    assert model.classes_.tolist() == [2**bits - 2, 2**bits - 1]


@pytest.mark.parametrize("where", ["array", "file", "list of objects"])
def test_labels_beside_the_file(tmp_path, where):
    X, y = rows()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    target = {"array": y, "file": tmp_path / "y.npy", "list of objects": y.astype(object)}[where]
    source = th.scan(tmp_path / "X.npy", target=target)
    model, expected = th.LogisticRegression().fit(source), th.LogisticRegression().fit(X, y)
    assert model.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    with pytest.raises(th.errors.DataError, match="needs numbers as the target"):
        th.Ridge().fit(source)


def test_partial_fit_knows_classes_that_a_file_lacks(tmp_path):
    X, y = rows()
    write_parquet(tmp_path / "rows.parquet", table(X, y))
    source = th.scan(tmp_path / "rows.parquet", target="label")
    classes = [*LABELS, "zzz", "A"]
    model = th.SGDClassifier(shuffle=False).partial_fit(source, classes=classes)
    expected = th.SGDClassifier(shuffle=False).partial_fit(X, y, classes=classes)
    assert model.classes_.tolist() == sorted(classes)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    with pytest.raises(th.errors.DataError, match="belong to no class"):
        th.SGDClassifier().partial_fit(source, classes=["a", "setosa"])


def test_a_class_of_weight_zero_is_a_class_as_in_memory(tmp_path):
    X, y = rows()
    weight = (y != "a").astype(float)
    write_parquet(tmp_path / "rows.parquet", table(X, y) | {"w": weight})
    codes = np.searchsorted(np.sort(LABELS), y)
    write_parquet(tmp_path / "codes.parquet", table(X, codes) | {"w": weight})
    expected = th.LogisticRegression().fit(X, y, sample_weight=weight)
    for name in ("rows", "codes"):
        source = th.scan(tmp_path / f"{name}.parquet", target="label", weight="w")
        model = th.LogisticRegression().fit(source)
        assert len(model.classes_) == len(expected.classes_) == 4
        np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_a_single_class_of_positive_weight_is_refused(tmp_path):
    X, y = rows()
    for weight, message in (
        ((y == "a").astype(float), "all rows of positive weight belong to one class, 'a'"),
        (np.zeros(len(y)), "all sample weights are zero"),
    ):
        write_parquet(tmp_path / "rows.parquet", table(X, y) | {"w": weight})
        source = th.scan(tmp_path / "rows.parquet", target="label", weight="w")
        with pytest.raises(th.errors.DataError, match=message):
            th.LogisticRegression().fit(source)


def test_a_source_with_labels_can_be_sent_to_another_process(tmp_path):
    X, y = rows(40)
    write_parquet(tmp_path / "rows.parquet", table(X, y))
    source = th.scan(tmp_path / "rows.parquet", target="label")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(source)).arrays()[1], y)


def test_several_targets_have_to_be_numbers(tmp_path):
    X, y = rows(20)
    write_parquet(tmp_path / "rows.parquet", table(X, y))
    with pytest.raises(th.errors.DataError, match=r"'label' is categorical.*Name one column"):
        th.scan(tmp_path / "rows.parquet", target=["x0", "label"])


def test_a_bootstrap_of_a_file_sees_its_classes(tmp_path):
    X, y = rows(60)
    y[:] = "a"
    y[7] = "b"
    write_parquet(tmp_path / "rows.parquet", table(X, y))
    source = th.scan(tmp_path / "rows.parquet", target="label")
    options = {"n_resamples": 20, "random_state": 0}
    found = th.bootstrap(th.LogisticRegression(), source, statistic="coef", **options)
    expected = th.bootstrap(th.LogisticRegression(), X, y, statistic="coef", **options)
    assert found.n_failed == expected.n_failed > 0


def test_a_target_array_of_booleans(tmp_path):
    X, _ = rows()
    np.save(tmp_path / "rows.npy", X)
    source = th.scan(tmp_path / "rows.npy", target=X[:, 0] > 0)
    model = th.LogisticRegression().fit(source)
    np.testing.assert_array_equal(model.classes_, [False, True])


@pytest.mark.parametrize("cell", ["-", "?", "None"])
def test_a_column_of_numbers_with_one_other_text_warns(tmp_path, cell):
    path = tmp_path / "rows.csv"
    lines = [f"{number},{number % 3}" for number in range(20)]
    path.write_text("\n".join(["x,y", *lines, f"{cell},1"]) + "\n")
    said = rf"'x' is read as categories, because '{re.escape(cell)}' is not .* 20 of its 21"
    with pytest.warns(UserWarning, match=said):
        th.scan(path, target="y").with_categories()


@pytest.mark.filterwarnings("error")
def test_columns_of_categories_do_not_warn(tmp_path):
    codes = [*map(str, range(20)), "A1"]
    write_parquet(tmp_path / "rows.parquet", {"x": codes, "y": np.arange(21.0)})
    th.scan(tmp_path / "rows.parquet", target="y").with_categories()
    (tmp_path / "rows.csv").write_text("x,y\n1,1\n2,2\na,3\n")
    th.scan(tmp_path / "rows.csv", target="y").with_categories()


def test_a_target_of_numbers_with_one_text(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k}.5\n" for k in range(30)) + "1,oops\n")
    with pytest.warns(UserWarning, match="'y' is read as labels, because 'oops' is not a number"):
        th.GaussianNB().fit(th.scan(path, target="y"))
