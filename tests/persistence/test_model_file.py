"""Saved = loaded, bit for bit; what cannot be saved is said."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import discriminant_analysis, dummy, linear_model, naive_bayes
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lars
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import thetahat as th
from thetahat.persistence import container

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 3))
Y = X @ [1.0, 2.0, 3.0] + RANDOM.standard_normal(80)
LABELS = np.where(Y > 0, "yes", "no")


def again(model, tmp_path, **options):
    th.save(model, tmp_path / "model.theta")
    return th.load(tmp_path / "model.theta", **options)


STEPS = {
    "scaler": StandardScaler(),
    "robust": RobustScaler(),
    "polynomials": PolynomialFeatures(2),
    "power": PowerTransformer(),
    "quantiles": QuantileTransformer(n_quantiles=10),
    "bins": KBinsDiscretizer(quantile_method="averaged_inverted_cdf"),
    "best": SelectKBest(f_classif, k=2),
    "log": FunctionTransformer(np.log1p, validate=True),
    "union": FeatureUnion([("as is", FunctionTransformer()), ("bins", StandardScaler())]),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_pipelines_of_scikit_learn_steps(name, tmp_path):
    x = np.abs(X)
    model = make_pipeline(clone(STEPS[name]), th.LogisticRegression()).fit(x, LABELS)
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    loaded.fit(x, LABELS)  # and it can be fitted again


def test_tables_of_mixed_kinds(tmp_path):
    random = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": random.choice(["red", "grün", None], 80),
            "grade": random.choice(["a", "b", "c"], 80),
            "text": random.choice(["a good film", "a bad film", "no film"], 80),
        }
    )
    table.loc[3, "size"] = np.nan
    columns = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
                ["size"],
            ),
            ("categories", OneHotEncoder(handle_unknown="ignore", min_frequency=2), ["colour"]),
            ("grades", OrdinalEncoder(categories=[["a", "b", "c"]]), ["grade"]),
            ("words", TfidfVectorizer(ngram_range=(1, 2)), "text"),
            ("hashes", HashingVectorizer(n_features=16), "text"),
        ]
    )
    model = make_pipeline(columns, th.LogisticRegression()).fit(table, LABELS)
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    words = [
        each.named_transformers_["words"].get_feature_names_out() for each in (model[0], loaded[0])
    ]
    assert words[0].tolist() == words[1].tolist()


@pytest.mark.parametrize(
    "value",
    [
        (1, "two", (3.0, None)),
        {1: "a", "b": [2.0]},
        {1, 2},
        slice(1, None, 2),
        b"\x00\xff",
        float("inf"),
        np.float32(0.1),
        np.int64(3),
        np.dtype("float32"),
        np.float64,
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6, dtype=np.uint32),
        np.array([True, False]),
        np.zeros((0, 3)),
        np.array(2.5),
        np.array(["é", "long text", ""]),
        np.array(["a", None, 1.5, np.nan], dtype=object),
        np.array([(1.5, 2)], dtype=[("x", "f8"), ("y", "i4")]),
        th.losses.Huber(delta=2.0),
        np.exp,
    ],
    ids=repr,
)
def test_every_kind_of_value_comes_back(value, tmp_path):
    model = th.Ridge()
    model.kept_ = value
    kept = again(model, tmp_path).kept_
    assert type(kept) is type(value)
    if isinstance(value, np.ndarray):
        assert kept.dtype == value.dtype
        assert kept.flags.f_contiguous == value.flags.f_contiguous
        assert kept.tolist() == value.tolist()  # an object NaN comes back as itself
    else:
        assert kept == value


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array])
def test_sparse_arrays_come_back(kind, tmp_path):
    model = th.Ridge()
    model.kept_ = kind(np.where(X > 1, X, 0.0))
    kept = again(model, tmp_path).kept_
    np.testing.assert_array_equal(kept.toarray(), model.kept_.toarray())
    assert isinstance(kept, sp.sparray) == isinstance(model.kept_, sp.sparray)


def test_an_array_held_twice_is_stored_once(tmp_path):
    model = th.Ridge()
    model.first_ = model.second_ = np.zeros(100_000)
    loaded = again(model, tmp_path)
    assert loaded.first_ is loaded.second_
    assert os.path.getsize(tmp_path / "model.theta") < 900_000


@pytest.mark.parametrize(
    "model",
    [
        th.LinearRegression(),
        th.RandomForestRegressor(n_estimators=3, random_state=0),
        th.HistGradientBoostingRegressor(max_iter=3, random_state=0),
        th.BaggingRegressor(n_estimators=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_equal_models_give_equal_bytes(model, tmp_path):
    """Saved four times, refitted, and loaded: the order of the metadata used to be random."""
    place = tmp_path / "model.theta"

    def content(each):
        th.save(each, place)
        return place.read_bytes()

    first = content(model.fit(X, Y))
    assert {content(each) for each in (model, model, model, clone(model).fit(X, Y))} == {first}
    assert content(th.load(place)) == first


def square(values):
    return values**2


def test_functions_are_named_and_supplied_by_the_reader(tmp_path):
    model = th.FeatureMap({"square": (square, [0])}).fit(X)
    th.save(model, tmp_path / "model.theta")
    with pytest.raises(th.errors.DataError, match=r"uses the function '.*:square'.*functions="):
        th.load(tmp_path / "model.theta")
    loaded = th.load(tmp_path / "model.theta", functions={f"{__name__}:square": square})
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_what_cannot_be_saved_is_refused_by_name(tmp_path):
    with pytest.raises(
        th.errors.CapabilityError, match=r"cannot hold a sklearn\.linear_model.*Lars"
    ):
        th.save(make_pipeline(Lars()), tmp_path / "model.theta")
    model = th.Ridge()
    model.itself_ = [model]
    with pytest.raises(th.errors.CapabilityError, match="contains itself"):
        th.save(model, tmp_path / "model.theta")
    model.itself_ = np.array([1j])
    with pytest.raises(
        th.errors.CapabilityError, match=r"Ridge\.itself_ is an array of complex128"
    ):
        th.save(model, tmp_path / "model.theta")
    with pytest.raises(
        th.errors.ParameterError, match="text, finite numbers, lists and dictionaries"
    ):
        th.save(th.Ridge(), tmp_path / "model.theta", notes={"x": object()})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "kind",
    ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"],
)
def test_a_generator_goes_on_where_it_was(kind, tmp_path):
    model = th.RandomForestRegressor(
        n_estimators=2, random_state=np.random.Generator(getattr(np.random, kind)(3))
    )
    model.random_state.standard_normal(5, dtype=np.float32)
    loaded = again(model, tmp_path)
    assert loaded.random_state.random(9).tolist() == model.random_state.random(9).tolist()


@pytest.mark.parametrize(
    "member",
    [
        linear_model.LogisticRegression(),
        linear_model.RidgeClassifier(),
        naive_bayes.GaussianNB(),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        discriminant_analysis.QuadraticDiscriminantAnalysis(),
        dummy.DummyClassifier(),
    ],
    ids=lambda member: type(member).__name__,
)
def test_ensembles_of_scikit_learn_members(member, tmp_path):
    model = th.VotingClassifier([("theirs", member), ("ours", th.LogisticRegression())])
    model.fit(X, LABELS)
    loaded = again(model, tmp_path)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_many_small_arrays_are_joined(tmp_path):
    """The trees of an ensemble, each with arrays of its own, become a few arrays in the file."""
    model = th.AdaBoostClassifier(n_estimators=40, random_state=0).fit(X, LABELS)
    loaded = again(model, tmp_path)
    assert loaded.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    with container.read(tmp_path / "model.theta") as file:
        assert file.n_arrays < 60
    many = th.Ridge()
    many.kept_ = [th.losses.Huber(delta=1.0 + i) for i in range(30_000)]
    assert [each.delta for each in again(many, tmp_path).kept_[:3]] == [1.0, 2.0, 3.0]


def test_text_with_one_long_entry_keeps_its_width(tmp_path):
    model = th.Ridge()
    model.kept_ = np.array(["a"] * 999 + ["b" * 10_000]).reshape(10, 100)
    assert (again(model, tmp_path).kept_ == model.kept_).all()


@pytest.mark.parametrize("thing", [[1], np.float64, "Ridge", th.Ridge, None], ids=repr)
def test_only_models_are_saved(thing, tmp_path):
    with pytest.raises(th.errors.ParameterError, match="writes an estimator, a loss or a penalty"):
        th.save(thing, tmp_path / "model.theta")


def test_notes_and_description(tmp_path):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), th.LogisticRegression(C=3.0)).fit(table, LABELS)
    th.save(model, tmp_path / "model.theta", notes={"trained on": "made-up rows", "rows": 80})
    found = th.describe_file(tmp_path / "model.theta")
    assert found.model == "Pipeline (StandardScaler → LogisticRegression)"
    assert found.columns == ["a", "b", "c"]
    assert found.classes == ["no", "yes"]
    assert found.notes == {"trained on": "made-up rows", "rows": 80}
    assert found.versions["thetahat"] == th.__version__
    text = str(found)
    assert "3: a, b, c" in text
    assert "trained on  made-up rows" in text


def _voting_of_text_and_numbers():
    table = pd.DataFrame({"word": np.where(Y > 0, "up", "down"), "size": X[:, 0]})
    columns = ColumnTransformer([("words", OneHotEncoder(), ["word"])], remainder="passthrough")
    members = [("a", make_pipeline(columns, th.LogisticRegression()))]
    return th.VotingClassifier(members), table, LABELS


def _trees_of_categories(model):
    table = pd.DataFrame({"grade": pd.Categorical(np.where(Y > 0, "a", "b")), "size": X[:, 0]})
    return model, table, Y


USUAL = {
    "members that take text": _voting_of_text_and_numbers,
    "categories of a table": lambda: _trees_of_categories(
        th.HistGradientBoostingRegressor(max_iter=3)
    ),
    "a tree of categories": lambda: _trees_of_categories(th.DecisionTreeRegressor()),
    "single precision": lambda: (th.DictionaryLearning(2, tol=0.1), X.astype(np.float32), None),
    "one column": lambda: (th.Ridge(), X[:, :1], Y),
    "seven columns": lambda: (th.RidgeClassifier(), np.hstack([X, X, X])[:, :7], LABELS),
    "seven classes": lambda: (th.LogisticRegression(), X, np.arange(80) % 7),
    "seven targets": lambda: (th.Ridge(), X, np.column_stack([Y] * 7)),
    "a polynomial": lambda: (
        make_pipeline(th.MonomialExpansion(3, form="kernel"), th.Ridge()),
        X,
        Y,
    ),
    "a table": lambda: (
        make_pipeline(th.TableVectorizer(), th.Ridge()),
        pd.DataFrame({"size": X[:, 0], "word": np.where(Y > 0, "up", "down")}),
        Y,
    ),
    "columns with names": lambda: (th.LinearSVC(), pd.DataFrame(X, columns=list("abc")), LABELS),
}


@pytest.mark.parametrize("name", USUAL)
def test_the_trial_of_a_loaded_model_refuses_no_usual_one(tmp_path, name):
    """And it gives no warning, for example about the names of the columns."""
    model, rows, y = USUAL[name]()
    model = model.fit(rows, y)
    loaded = again(model, tmp_path)
    method = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(loaded, method)(rows), getattr(model, method)(rows))


def test_functions_of_the_user_are_not_called_when_loading(tmp_path):
    calls = []

    def curve(x, a):
        calls.append(len(x))
        return a * x[:, 0]

    model = th.NonlinearRegression(curve, start=[1.0]).fit(X, Y)
    th.save(model, tmp_path / "model.theta")
    calls.clear()
    name = f"{__name__}:{curve.__qualname__}"
    th.load(tmp_path / "model.theta", functions={name: curve})
    assert not calls


def test_a_path_among_the_parameters_is_saved_as_text(tmp_path):
    path = tmp_path / "fit.npz"
    model = th.MLPRegressor(hidden_layer_sizes=(3,), tol=1.0, checkpoint=path).fit(X, Y)
    loaded = again(model, tmp_path)
    assert loaded.checkpoint == str(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
