"""Tables of every library become the same matrix: numbers, codes, NaN for what is missing."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.columns.schema import Kind
from thetahat.data.in_memory import InMemory
from thetahat.models.tree.growth.columns import TreeColumns
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.tree_classifier import TreeClassifierLearner

SIZES = ["small", "large", None, "medium", "small"]
ORDER = ["small", "medium", "large"]
COLORS = ["red", None, "blue", "red", "green"]
NUMBERS = [1.5, np.inf, np.nan, -np.inf, 0.0]
MEMBERS = [True, False, True, True, False]
EXPECTED = np.array(
    [
        [1.5, 2, 0, 1],
        [np.inf, np.nan, 2, 0],
        [np.nan, 0, np.nan, 1],
        [-np.inf, 2, 1, 1],
        [0, 1, 0, 0],
    ]
)


def in_pandas():
    sizes = pd.Categorical(SIZES, categories=ORDER, ordered=True)
    return pd.DataFrame({"x": NUMBERS, "color": COLORS, "size": sizes, "member": MEMBERS})


def in_pandas_categories():
    return in_pandas().astype({"color": "category"})


def in_polars():
    sizes = pl.Series(SIZES, dtype=pl.Enum(ORDER))
    return pl.DataFrame({"x": NUMBERS, "color": COLORS, "size": sizes, "member": MEMBERS})


def in_polars_categories():
    return in_polars().with_columns(pl.col("color").cast(pl.Categorical))


def in_arrow():
    codes = pa.array([0, 2, None, 1, 0], type=pa.int8())
    sizes = pa.DictionaryArray.from_arrays(codes, pa.array(ORDER), ordered=True)
    return pa.table({"x": NUMBERS, "color": COLORS, "size": sizes, "member": MEMBERS})


def in_arrow_chunks():
    whole = in_arrow().set_column(1, "color", pa.array(COLORS).dictionary_encode())
    return pa.concat_tables([whole.slice(0, 2), whole.slice(2)])


TABLES = [
    in_pandas,
    in_pandas_categories,
    in_polars,
    in_polars_categories,
    in_arrow,
    in_arrow_chunks,
]
every_table = pytest.mark.parametrize("build", TABLES, ids=lambda build: build.__name__)


class Reader(TreeLearner):
    """An estimator that only looks."""

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def fit(self, X, y=None, sample_weight=None):
        self.source_ = self._open(X, y, sample_weight, supervised=False)
        return self


class Labels(TreeClassifierLearner):
    def __init__(self, class_weight=None):
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        self.source_ = self._open_labels(X, y, sample_weight, class_weight=self.class_weight)
        return self


@every_table
def test_every_library_gives_the_same_matrix(build):
    table = build()
    columns = TreeColumns.learn(table)
    rows = columns.read(table)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, EXPECTED)
    assert columns.names == ("x", "color", "size", "member")
    assert columns.levels[1] == ("blue", "green", "red")
    np.testing.assert_array_equal(columns.is_categorical, [False, True, False, False])
    np.testing.assert_array_equal(columns.n_categories, [0, 3, 0, 0])
    kinds = [column.kind for column in columns.schema.columns]
    assert kinds == [Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL, Kind.NUMERIC]


@pytest.mark.parametrize("other", TABLES, ids=lambda build: build.__name__)
@every_table
def test_a_table_of_one_library_is_read_as_that_of_another(build, other):
    columns = TreeColumns.learn(build())
    np.testing.assert_array_equal(columns.read(other()), EXPECTED)


def test_objects_and_lists():
    table = [[1.5, "red"], [None, None], [2, "blue"]]
    expected = [[1.5, 1], [np.nan, np.nan], [2, 0]]
    for X in (table, np.array(table, dtype=object)):
        columns = TreeColumns.learn(X)
        np.testing.assert_array_equal(columns.read(X), expected)
        assert columns.categorical == (1,)
        assert columns.names == ()
    text = np.array([["a", "x"], ["b", "x"]])
    np.testing.assert_array_equal(TreeColumns.learn(text).read(text), [[0, 0], [1, 0]])


def test_structured_arrays():
    X = np.array([(1.0, "b"), (2.0, "a")], dtype=[("x", "f4"), ("color", "U3")])
    columns = TreeColumns.learn(X)
    rows = columns.read(X)
    assert columns.names == ("x", "color")
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, [[1, 1], [2, 0]])


def test_float_arrays_pass_without_a_copy():
    for dtype in (np.float32, np.float64):
        X = np.arange(6, dtype=dtype).reshape(3, 2)
        assert TreeColumns.learn(X).read(X) is X
        assert Reader().fit(X).source_.X is X
        assert Reader().fit(X)._rows(X) is X


def test_an_unseen_category_is_missing():
    columns = TreeColumns.learn(in_pandas())
    new = in_pandas().assign(color=["red", "pink", "blue", None, "pink"])
    np.testing.assert_array_equal(columns.read(new)[:, 1], [2, np.nan, 0, np.nan, np.nan])


def test_a_declared_category_without_rows_is_unseen():
    frame = pd.DataFrame({"c": pd.Categorical(["b", "c"], categories=["a", "b", "c"])})
    columns = TreeColumns.learn(frame)
    assert columns.levels[0] == ("b", "c")
    frame = pd.DataFrame({"c": pd.Categorical(["a", "c"], categories=["a", "b", "c"])})
    np.testing.assert_array_equal(columns.read(frame)[:, 0], [np.nan, 1])


def test_missing_categories_in_all_their_spellings():
    for value in (None, np.nan, pd.NA):
        X = np.array([["a"], [value], ["b"]], dtype=object)
        np.testing.assert_array_equal(TreeColumns.learn(X).read(X)[:, 0], [0, np.nan, 1])
        frame = pd.DataFrame({"c": ["a", value, "b"]})
        np.testing.assert_array_equal(TreeColumns.learn(frame).read(frame)[:, 0], [0, np.nan, 1])


def test_a_column_with_nothing_in_it():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical([None, None]), "c": [None, None]})
    columns = TreeColumns.learn(frame)
    np.testing.assert_array_equal(columns.n_categories, [0, 0, 0])
    assert np.isnan(columns.read(frame)[:, 1:]).all()


@pytest.mark.parametrize(
    "asked",
    [[False, True, False], [1], np.array([1]), ["b"], ("b",)],
    ids=["mask", "index", "array", "name", "tuple"],
)
def test_categorical_features_as_scikit_learn_reads_them(asked):
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [30.5, -7, 30.5], "c": [1.0, 1, 1]})
    expected = np.array([[1.0, 1, 1], [2, 0, 1], [3, 1, 1]])
    columns = TreeColumns.learn(frame, asked)
    np.testing.assert_array_equal(columns.read(frame), expected)
    np.testing.assert_array_equal(columns.is_categorical, [False, True, False])
    if not isinstance(asked[0], str):
        X = frame.to_numpy()
        before = X.copy()
        np.testing.assert_array_equal(TreeColumns.learn(X, asked).read(X), expected)
        np.testing.assert_array_equal(X, before)


def test_numbers_as_categories_may_be_any_and_missing():
    X = np.array([[7.0], [np.nan], [-2.5], [1e300], [7.0]])
    columns = TreeColumns.learn(X, [0])
    np.testing.assert_array_equal(columns.read(X)[:, 0], [1, np.nan, 0, 2, 1])
    assert np.isnan(columns.read(np.array([[8.0]]))[0, 0])
    whole = np.array([[7], [3]])
    np.testing.assert_array_equal(TreeColumns.learn(whole, [0]).read(whole), [[1], [0]])


def test_an_ordered_category_asked_for_loses_its_order():
    columns = TreeColumns.learn(in_pandas(), ["color", "size"])
    assert columns.categorical == (1, 2)
    assert TreeColumns.learn(in_pandas(), "from_dtype").categorical == (1,)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("color", "'from_dtype'"),
        ([0.5], "bool, int or str"),
        ([True], r"shape \(n_features,\) = \(2,\), got: \(1,\)"),
        ([0, 2], r"\[0, n_features - 1\] = \[0, 1\], but 2"),
        ([-1], "but -1 is not"),
        (["a"], "without feature names"),
    ],
    ids=["word", "fraction", "mask", "beyond", "negative", "name"],
)
def test_bad_categorical_features_are_named(asked, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        Reader(asked).fit(np.zeros((3, 2)))


def test_an_unknown_name_is_named():
    with pytest.raises(th.errors.ParameterError, match="'shape' which is not a valid feature name"):
        Reader(["shape"]).fit(in_pandas())


def test_sparse_rows_are_made_dense_when_they_fit():
    X = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]], dtype=np.float32))
    model = Reader().fit(X)
    assert model.source_.X.dtype == np.float32
    np.testing.assert_array_equal(model.source_.X, X.toarray())
    np.testing.assert_array_equal(model._rows(sp.csc_array(X)), X.toarray())
    wide = sp.random_array((10_000, 10_000), density=1e-6, rng=0)
    with (
        th.config(memory=1 << 20),
        pytest.raises(
            th.errors.MemoryBudgetError, match=r"Reader.*10000 × 10000.*763 MiB, but only 1 MiB"
        ),
    ):
        Reader().fit(wide)


def test_rows_of_fitted_estimators_are_checked():
    model = Reader().fit(in_pandas())
    np.testing.assert_array_equal(model._rows(in_pandas()), EXPECTED)
    assert list(model.feature_names_in_) == ["x", "color", "size", "member"]
    with pytest.raises(ValueError, match="feature names"):
        model._rows(in_pandas().rename(columns={"x": "z"}))
    with pytest.raises(ValueError, match="5 features"):
        Reader().fit(np.zeros((2, 4)))._rows(np.zeros((1, 5)))
    with pytest.raises(th.errors.DataError, match=r"Column 'x' is categorical \(it holds 'a'\)"):
        model._rows(in_pandas().assign(x=list("abcde")))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model._rows(in_pandas().to_numpy())
    with pytest.raises(ValueError, match="0 sample"):
        Reader().fit(np.zeros((2, 4)))._rows(np.zeros((0, 4)))
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        Reader()._rows(np.zeros((1, 4)))


def test_structured_rows_keep_their_names():
    X = np.array([(1.0, "b"), (2.0, "a")], dtype=[("x", "f8"), ("color", "U3")])
    model = Reader().fit(X)
    assert list(model.feature_names_in_) == ["x", "color"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model._rows(X), [[1, 1], [2, 0]])
    other = X.astype([("x", "f8"), ("hue", "U3")])
    with pytest.raises(th.errors.DataError, match="in this order; got x, hue"):
        model._rows(other)


def test_refitting_on_arrays_forgets_the_names():
    model = Reader().fit(in_pandas()).fit(np.zeros((2, 3)))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3


def test_a_row_of_weight_zero_is_absent():
    model = Reader().fit(in_pandas(), sample_weight=[1, 1, 0, 1, 1])
    assert model._columns.levels[1] == ("green", "red")
    np.testing.assert_array_equal(model.source_.X[:, 1], [1, np.nan, np.nan, 1, 0])
    np.testing.assert_array_equal(model._rows(in_pandas())[:, 1], [1, np.nan, np.nan, 1, 0])


def test_sources_in_memory_are_taken():
    X = np.array([[1.0, np.nan], [2.0, np.inf]])
    source = InMemory(X=X, y=np.array([0.0, 1.0]), n_features=2, has_target=True)
    model = Reader().fit(source)
    assert model.source_.X is X
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model._rows(source), X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([["a", {"b": 1}]], TypeError, r"Column 1 holds \{'b': 1\} at row 0: argument must be a"),
        (["a", "b"], ValueError, "Expected 2D array, got 1D array"),
        (np.array([[1 + 2j]]), ValueError, "Complex data not supported"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), ValueError, "Column 'day'"),
        (pd.DataFrame({"a": []}, dtype=float), ValueError, "0 sample"),
        (pd.DataFrame(index=[0, 1]), ValueError, "0 feature"),
    ],
    ids=["object", "flat", "complex", "date", "rows", "columns"],
)
def test_what_is_no_table_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        Reader().fit(X)


def test_labels_of_one_output():
    X = np.zeros((4, 1))
    model = Labels().fit(X, np.array(["b", "a", "b", "c"]))
    np.testing.assert_array_equal(model.source_.y, [1, 0, 1, 2])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (model.n_classes_, model.n_outputs_) == (3, 1)
    column = Labels().fit(X, np.array([["b"], ["a"], ["b"], ["c"]]))
    np.testing.assert_array_equal(column.source_.y, model.source_.y)
    assert Labels().fit(X, ["a"] * 4).n_classes_ == 1


def test_labels_of_several_outputs():
    y = np.array([["b", "x"], ["a", "y"], ["b", "x"], ["b", "y"]])
    model = Labels().fit(np.zeros((4, 1)), y)
    np.testing.assert_array_equal(model.source_.y, [[1, 0], [0, 1], [1, 0], [1, 1]])
    assert [classes.tolist() for classes in model.classes_] == [["a", "b"], ["x", "y"]]
    assert (model.n_classes_, model.n_outputs_) == ([2, 2], 2)
    frame = pd.DataFrame(y, columns=["first", "second"])
    np.testing.assert_array_equal(Labels().fit(np.zeros((4, 1)), frame).source_.y, model.source_.y)


def test_class_weights_of_several_outputs_multiply():
    from sklearn.utils.class_weight import compute_sample_weight

    y = np.array([[0, 3], [1, 3], [0, 4], [0, 3]])
    for weight in ("balanced", [{0: 2.0}, {3: 5.0, 4: 0.5}]):
        model = Labels(class_weight=weight).fit(np.zeros((4, 1)), y, sample_weight=[1, 1, 1, 1])
        np.testing.assert_allclose(model.source_.weight, compute_sample_weight(weight, y))
    with pytest.raises(th.errors.ParameterError, match="list of dictionaries"):
        Labels(class_weight={0: 1.0}).fit(np.zeros((4, 1)), y)


def test_tags():
    from sklearn.utils import get_tags

    tags = get_tags(Reader())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse


@every_table
def test_trees_answer_alike_for_every_library(build):
    y = ["a", "b", "c", "a", "d"]
    model = th.DecisionTreeClassifier(random_state=0).fit(build(), y)
    assert model.score(build(), y) == 1.0
    for other in TABLES:
        np.testing.assert_array_equal(model.predict(other()), model.predict(build()))


def test_an_ordered_cell_takes_four_bytes():
    """Beside the rows of one column that is being sorted; X is read where it is."""
    program = """
        import numpy as np
        from benchmarks.memory import peak_of
        from thetahat import config
        from thetahat.models.tree.growth.growing import sorted_columns

        X = np.random.default_rng(0).standard_normal((50_000, 100), dtype=np.float32)
        with config(threads=1):
            sorted_columns(X[:10])
            print(peak_of(lambda: sorted_columns(X))[1])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) < 8 * 50_000 * 100
