"""What every estimator of the catalog must keep: scikit-learn's contract and the library's laws.

Estimators are discovered. A family's settings for these checks stand beside the check, not per
estimator: what an estimator cannot do it says by its tags.
"""

import inspect
import os
import pickle
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.discovery import all_estimators
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import has_fit_parameter

import thetahat as th
from thetahat.catalog import estimators
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.models.cluster.density.base import DensityModel
from thetahat.models.decomposition.coded_rows import CodedRows
from thetahat.models.manifold.dissimilarities import DissimilarityEmbedding
from thetahat.models.manifold.graph_model import GraphModel
from thetahat.models.neighbors.graphs import GraphTransformer
from thetahat.models.neural.autoencoder_model import AutoencoderModel
from thetahat.models.neural.network_model import NetworkModel


def prepared(model):
    """The estimator with few members, its random choices fixed where it makes any."""
    settings = {"random_state": 0, "n_estimators": 10}
    known = model.get_params()
    if "max_leaf_nodes" in known:  # boosting, which has a tree per iteration
        settings |= {"max_iter": 10}
    return model.set_params(**{each: settings[each] for each in settings if each in known})


ESTIMATORS = {name: prepared(kind._example()) for name, kind in estimators().items()}
PREDICTORS = {
    name: model for name, model in ESTIMATORS.items() if is_regressor(model) or is_classifier(model)
}

PEERS = dict(all_estimators())

RANDOM = np.random.default_rng(0)
N, D = 5000, 6
X = np.abs(RANDOM.standard_normal((N, D))) + 0.1
Y = np.abs(X @ np.arange(1.0, D + 1) + RANDOM.standard_normal(N))
LABELS = np.array(["low", "middle", "high"])[np.searchsorted(np.quantile(Y, [0.3, 0.7]), Y)]


def targets(model):
    """What the estimator learns: labels for classifiers, else positive numbers."""
    if not get_tags(model).target_tags.single_output:
        return np.column_stack([Y, Y - X[:, 0]])
    if not takes_labels(model):
        return Y
    kind = get_tags(model).classifier_tags
    return LABELS if kind is None or kind.multi_class else np.where(Y > 20, "yes", "no")


def takes_labels(model):
    """Whether the target is a label per row: for classifiers, and metrics learned from classes."""
    return is_classifier(model) or (
        isinstance(model, LabelledEstimator) and not is_regressor(model)
    )


def suited(model, x=X):
    """The rows, in whole numbers where the model takes categories."""
    whole = get_tags(model).input_tags.categorical and isinstance(x, np.ndarray)
    return np.minimum(np.floor(x), 2) if whole else x


def takes_new_rows(model):
    """Whether a fitted estimator takes new rows; hierarchies of clusters do not."""
    return not is_clusterer(model) or hasattr(model, "transform")


def answer(model, x=None):
    """What a fitted estimator says of some rows; for clusters more than their numbers."""
    x = suited(model, X[:1000] if x is None else x)
    if not takes_new_rows(model):
        return getattr(model, "heights_", model.labels_)
    if is_clusterer(model):
        return model.transform(x)
    for method in ("decision_function", "predict_proba", "predict", "transform", "log_density"):
        if hasattr(model, method):
            found = getattr(model, method)(x)
            return found.toarray() if sp.issparse(found) else found
    if hasattr(model, "kneighbors"):
        return model.kneighbors(x)[0]
    if hasattr(model, "embedding_"):  # of the training rows alone
        return model.embedding_
    raise AssertionError(f"{model} says nothing of rows")


def exact(model):
    """The estimator, asked to go on until it is as near its optimum as rounding lets it."""
    tight = {"tol": 1e-13, "max_iter": 100_000}
    if model._visits_rows_in_order:  # a stochastic method has no optimum to come that near to
        tight = {"max_iter": 5, "tol": None}
    if model._grows_by_steps:  # nor has one whose steps are what it is made of
        tight = {}
    known = model.get_params()
    return clone(model).set_params(**{key: tight[key] for key in tight if key in known})


def few(model, x=X):
    """The rows to fit: fewer where the cost grows faster than their number."""
    return x[:300] if model._for_few_rows else x


def fitted(model, x=None, y=None, **options):
    x = suited(model, few(model) if x is None else x)
    return exact(model).fit(x, targets(model)[: x.shape[0]] if y is None else y, **options)


@cache
def model_of(name):
    """The estimator fitted to all rows it takes, on three threads; tests read it and leave it."""
    with th.config(threads=3):
        return fitted(ESTIMATORS[name])


@cache
def answer_of(name):
    return answer(model_of(name))


def which(*conditions):
    """The names of the estimators that meet every condition."""
    return [name for name, model in ESTIMATORS.items() if all(met(model) for met in conditions)]


def has_weights(model):
    return has_fit_parameter(model, "sample_weight")


def says_of_new_rows(model):
    """False for embeddings and labels of the training rows alone."""
    return not isinstance(model, DensityModel | DissimilarityEmbedding | GraphModel | th.TSNE)


def is_blind_to_order(model):
    return not (model._visits_rows_in_order or model._splits_rows or model._draws_rows)


def beside_the_point(model):
    """Checks of scikit-learn that a method cannot meet by its nature, with the reason."""
    if getattr(model, "_may_make_no_round", False):
        reason = "with nothing left to learn there is no round to make"
        return {"check_non_transformer_estimators_n_iter": reason}
    if getattr(model, "_minus_one_is_no_label", False):
        reason = "it fits labels −1 and 1, of which −1 marks rows without a label"
        found = {"check_classifiers_classes": reason}
        if isinstance(model, th.EmbeddingNetwork):
            reason = "pairs are drawn among rows, of which a row twice is two"
            names = ("dense", "sparse")
            found |= {f"check_sample_weight_equivalence_on_{each}_data": reason for each in names}
        return found
    if isinstance(model, NetworkModel):  # all rows of the checks are one batch, a single step
        return {}
    if isinstance(model, th.KernelPCA):
        reason = "the way back is learned only with fit_inverse_transform=True"
        return {"check_array_api_input": reason}
    if isinstance(model, th.PCA):
        reason = "directions without variance are arbitrary, and with fewer rows than columns the "
        reason += "number of rows decides how many are kept"
        names = ("dense", "sparse")
        return {f"check_sample_weight_equivalence_on_{each}_data": reason for each in names}
    if isinstance(model, th.NuSVC):
        reason = "classes of weights 1000 and 0.0001 leave no nu that can be met"
        return {"check_class_weight_classifiers": reason}
    if isinstance(model, th.CategoricalNB):
        reason = "the rows of these checks are fractions, which are not categories"
        checks = ("sample_weight_equivalence_on_dense_data", "classifiers_one_label_sample_weights")
        return {f"check_{each}": reason for each in checks}
    if isinstance(model, th.OneClassSVM):
        reason = "rows on the boundary have the score 0, whose sign is that of rounding errors"
    elif isinstance(model, th.KernelRidgeCV):
        reason = "one of two equal rows is left out alone, and a row of weight two at once"
    elif getattr(model, "_draws_rows", False):
        reason = "a row twice is drawn by two draws, and a row of weight two by one likelier draw"
    elif getattr(model, "_visits_rows_in_order", False):
        reason = "a row twice is two single steps, and a row of weight two one long step"
    else:
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


def brief(model):
    """The estimator with few members, as in scikit-learn's own tests of the contract.

    Support vector machines, whose `max_iter` is -1, would make millions of steps on labels that
    are drawn.
    """
    known = model.get_params(deep=False)
    fewer = {"n_estimators": 5, "Cs": 3, "max_trials": 10, "max_subpopulation": 100}
    fewer |= {"n_pairs": 200, "pretraining_iter": 5}
    if "max_leaf_nodes" in known:  # boosting, which has a tree per iteration
        fewer |= {"max_iter": 5}
    if known.get("max_iter") == -1:
        fewer |= {"max_iter": 20_000}
    if isinstance(model, AutoencoderModel | CodedRows | th.EmbeddingNetwork):
        fewer |= {"max_iter": 5}  # which no check asks to be good
    if isinstance(model, th.CircleFit | th.PairwiseMetricLearner):
        fewer |= {"max_iter": 20}
    if isinstance(known.get("alphas"), int):  # a path of penalties
        fewer |= {"alphas": 5}
    folded = {"final_estimator", "Cs", "evidence", "n_refinements"}
    if folded & known.keys() or "alphas" in fewer:
        fewer |= {"cv": 2}
    if known.get("n_init") == 10:
        fewer |= {"n_init": 2}
    return clone(model).set_params(**{key: fewer[key] for key in fewer if key in known})


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
def test_scikit_learn_contract(name):
    model, passed, failed = brief(ESTIMATORS[name]), 0, []
    for each, check in estimator_checks_generator(model):
        check_name = check.func.__name__
        if check_name in beside_the_point(model) or check_name in OF_SPARSE_FORMATS:
            continue
        try:
            check(each)
            passed += 1
        except SkipTest:
            pass
        except Exception as error:
            error.add_note(f"in {check_name} of {name}")
            failed.append(error)
    assert passed > 20
    if failed:
        raise ExceptionGroup("scikit-learn's contract", failed)


OF_SPARSE_FORMATS = {"check_estimator_sparse_array", "check_estimator_sparse_matrix"}
"""Fits to rows of each format of SciPy's newer and older classes, all of which become CSR.

That they do is tested with the data; `test_dense_equals_sparse` has the most common ones.
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", which(lambda model: get_tags(model).input_tags.sparse))
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
def test_scikit_learn_contract_of_sparse_formats(name):
    model = brief(ESTIMATORS[name])
    checks = [
        (each, check)
        for each, check in estimator_checks_generator(model)
        if check.func.__name__ in OF_SPARSE_FORMATS
    ]
    assert len(checks) == 2
    for each, check in checks:
        check(each)


def pass_array_checks():
    """The checks under array dispatch, for a process of its own; how many estimators pass them."""
    passed = 0
    warnings.simplefilter("error")
    for kind in (UserWarning, FutureWarning):
        warnings.simplefilter("ignore", kind)
    for model in ESTIMATORS.values():
        for each, check in estimator_checks_generator(model):
            if check.func.__name__ in beside_the_point(model):
                continue
            if check.func.__name__ == "check_array_api_input":
                check(each)
                passed += 1
    return passed


@pytest.mark.slow
def test_scikit_learn_contract_under_array_dispatch():
    """The checks skipped above: SciPy's array inputs are enabled before its first import."""
    code = "from tests import test_conformance as laws; print(laws.pass_array_checks())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    beside = sum("check_array_api_input" in beside_the_point(each) for each in ESTIMATORS.values())
    assert int(run.stdout) == len(ESTIMATORS) - beside


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_same_bits_for_any_number_of_threads(name, threads):
    rows = X[:500] if is_graph_of_rows(ESTIMATORS[name]) else few(ESTIMATORS[name])[:1500]
    with th.config(threads=3):
        expected = answer(model_of(name), rows)
    with th.config(threads=threads):
        np.testing.assert_array_equal(answer(fitted(ESTIMATORS[name]), rows), expected)


def is_graph_of_rows(model):
    """Whether an answer has a column for every row of the fit."""
    return isinstance(model, GraphTransformer)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_saved_is_loaded(name, tmp_path):
    model = model_of(name)
    th.save(model, tmp_path / "model.theta")
    loaded = th.load(tmp_path / "model.theta")
    np.testing.assert_array_equal(answer(loaded), answer_of(name))
    assert repr(loaded) == repr(model)
    assert vars(loaded).keys() == vars(model).keys()


@pytest.mark.parametrize("name", which(takes_new_rows))
def test_float32_in_float32_out(name):
    model = ESTIMATORS[name]
    x, y = suited(model, few(model)[:500]), few(model, targets(model))[:500]
    single = y if takes_labels(model) else y.astype(np.float32)
    small = answer(clone(model).fit(x.astype(np.float32), single), X[:500].astype(np.float32))
    assert small.dtype == np.float32
    # Rounding may take a row over a kink of the loss, and single steps elsewhere from there on; or
    # one tree of many to the other of two splits that gain the same.
    apart = 0.2 if model._visits_rows_in_order or model._draws_rows else 2e-3
    np.testing.assert_allclose(
        small, answer(clone(model).fit(x, y), X[:500]), rtol=2e-4, atol=apart
    )


@pytest.mark.parametrize("name", which(lambda model: not get_tags(model).input_tags.sparse))
def test_sparse_rows_are_refused_by_name(name):
    with pytest.raises(TypeError, match="sparse"):
        fitted(ESTIMATORS[name], sp.csr_array(X))


KINDS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix)


def stores_zeros(model):
    """Whether entries that sparse rows do not store are 0, and not missing."""
    return not getattr(model, "_absent_is_missing", False)


@pytest.mark.parametrize(
    "name", which(lambda model: get_tags(model).input_tags.sparse, stores_zeros)
)
def test_dense_equals_sparse(name):
    model = ESTIMATORS[name]
    thinned = few(model, np.where(X < 0.5, 0.0, X)[:500])
    for kinds, rows in ((KINDS[:1], thinned), (KINDS[1:], thinned[:100])):
        expected = answer(fitted(model, rows), rows)
        for kind in kinds:
            got = answer(fitted(model, kind(rows)), kind(rows))
            np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", which(has_weights, is_blind_to_order, says_of_new_rows))
def test_weight_two_is_a_row_twice(name):
    random = np.random.default_rng(1)
    model = ESTIMATORS[name]
    weight = random.integers(0, 3, 400)
    rows = np.repeat(np.arange(400), weight)
    weighted = fitted(model, X[:400], sample_weight=weight)
    repeated = fitted(model, X[rows], targets(model)[rows])
    np.testing.assert_allclose(answer(weighted), answer(repeated), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", which(is_blind_to_order, says_of_new_rows))
def test_order_of_rows_does_not_matter(name):
    random = np.random.default_rng(2)
    rows = few(ESTIMATORS[name])[:500]
    order = random.permutation(len(rows))
    expected = answer(fitted(ESTIMATORS[name], rows))
    model = fitted(ESTIMATORS[name], rows[order], targets(ESTIMATORS[name])[order])
    columns_are_rows = hasattr(model, "transform") and hasattr(model, "n_samples_fit_")
    if columns_are_rows or hasattr(
        model, "landmarks_"
    ):  # a column per row, in the order of the rows
        expected = expected[:, order]
    np.testing.assert_allclose(answer(model), expected, rtol=1e-7, atol=1e-7)


class Chunked(InMemory):
    """The same rows in blocks of an odd size, as a file would bring them."""

    block_rows = 613


@dataclass(frozen=True, kw_only=True)
class OnlyBlocks(Source):
    """The same rows, which nobody may look up by their number."""

    rows: Chunked

    @property
    def n_rows(self):
        return self.rows.n_rows

    def blocks(self):
        return self.rows.blocks()


def chunks(model):
    """The rows in blocks, with targets that suit the model."""
    y = targets(model)
    y = np.unique(y, return_inverse=True)[1].astype(float) if is_classifier(model) else y
    return Chunked(X=few(model, suited(model)), y=few(model, y), n_features=D, has_target=True)


@pytest.mark.parametrize("name", [name for name in PREDICTORS if not PREDICTORS[name]._streams])
def test_rows_in_blocks_are_refused_by_name(name):
    model = PREDICTORS[name]
    blocks = OnlyBlocks(rows=chunks(model), n_features=D, has_target=True)
    with pytest.raises(th.errors.CapabilityError, match="in memory"):
        exact(model).fit(blocks)


@pytest.mark.parametrize("name", [name for name in PREDICTORS if PREDICTORS[name]._streams])
def test_in_memory_equals_chunked(name):
    model = PREDICTORS[name]
    chunked = exact(model).fit(chunks(model))
    np.testing.assert_allclose(answer(chunked), answer_of(name), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pickles_and_clones(name):
    model = model_of(name)
    np.testing.assert_array_equal(answer(pickle.loads(pickle.dumps(model))), answer_of(name))
    assert clone(model).get_params().keys() == model.get_params().keys()


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # of scikit-learn's networks
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name in PEERS])
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples:UserWarning")
@pytest.mark.filterwarnings("ignore:The optimal value found:UserWarning")
@pytest.mark.filterwarnings("ignore:FastICA did not converge:UserWarning")
def test_same_parameters_as_scikit_learn(name):
    """Changing the import is the whole migration: parameters, defaults and fitted attributes."""
    peer = PEERS[name]
    ours = inspect.signature(type(ESTIMATORS[name])).parameters
    for parameter, default in inspect.signature(peer).parameters.items():
        if default.default != "deprecated":
            assert parameter in ours
            assert ours[parameter].default == default.default, parameter
    needed = [
        each
        for each, parameter in inspect.signature(peer).parameters.items()
        if parameter.default is parameter.empty or each in ("estimator", "n_components")
    ]
    parts = {each: getattr(ESTIMATORS[name], each) for each in needed}
    brief_ones = {"n_estimators": 5, "max_subpopulation": 100, "Cs": 2, "max_iter": 5}
    if name != "TSNE":  # which makes at least 250
        known = inspect.signature(peer).parameters
        parts |= {each: brief_ones[each] for each in brief_ones if each in known}
    if "dictionary" in parts:  # None is the unit vectors here
        parts["dictionary"] = np.eye(D)
    y = targets(ESTIMATORS[name])[:100]
    y = np.unique(y, return_inverse=True)[1] if takes_labels(ESTIMATORS[name]) else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own
        theirs = peer(**parts).fit(X[:100], y)
    attributes = {a for a in vars(theirs) if a.endswith("_") and not a.startswith("_")}
    assert attributes <= set(dir(model_of(name)))


def by_place(function):
    """Names of the arguments that may be passed by place."""
    found = inspect.signature(function).parameters.values()
    return [each.name for each in found if each.kind is each.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name in PEERS])
def test_arguments_by_place_as_in_scikit_learn(name):
    """Parameters of the constructor, and arguments of the methods that fit."""
    kind, peer = type(ESTIMATORS[name]), PEERS[name]
    theirs = by_place(peer)
    assert by_place(kind)[: len(theirs)] == theirs
    for method in ("fit", "partial_fit"):
        if hasattr(kind, method) and hasattr(peer, method):
            ours = by_place(getattr(kind, method))
            theirs = [each for each in by_place(getattr(peer, method)) if each in ours]
            assert ours[: len(theirs)] == theirs, method


def mean_log_density(model, X, y=None):
    """Some models sum their scores, and others average them."""
    return model.score_samples(X).mean()


def is_density(model):
    return hasattr(model, "log_density") and not is_classifier(model)


@pytest.mark.parametrize("name", which(is_density))
def test_densities_in_pipelines_and_searches(name):
    model = clone(ESTIMATORS[name])
    # Wide enough for the rows that are held out, and without empty cells.
    wide = {"margin": 1.0, "smoothing": 1.0, "factorised": True}
    model.set_params(**{each: wide[each] for each in wide if each in model.get_params()})
    pipeline = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(pipeline, {}, cv=2, scoring=mean_log_density)
    assert search.fit(X[:1000]).best_score_ > -15.0


@pytest.mark.parametrize(
    "name",
    [name for name in which(lambda model: hasattr(model, "transform")) if name not in PREDICTORS],
)
def test_transformers_in_pipelines(name):
    model = clone(ESTIMATORS[name])
    pipeline, rows = make_pipeline(MinMaxScaler(), model), few(model)[:1000]
    y = few(model, targets(model))[:1000] if needs_y(model) else None
    found = pipeline.fit_transform(rows, y)
    # Scores of X come as a pair with those of y.
    assert (found[0] if isinstance(found, tuple) else found).shape[0] == len(rows)


def needs_y(model):
    """Whether a transformer is fitted to labels or to a second table."""
    return takes_labels(model) or get_tags(model).target_tags.required


def preparation(model):
    """A step that gives the model columns that it takes."""
    tags = get_tags(model).input_tags
    if tags.categorical:
        return KBinsDiscretizer(encode="ordinal", quantile_method="averaged_inverted_cdf")
    return MinMaxScaler() if tags.positive_only else StandardScaler()


@pytest.mark.parametrize("name", PREDICTORS)
def test_predictors_in_pipelines_and_searches(name):
    model = clone(ESTIMATORS[name])
    if is_regressor(model) and "alpha" in model.get_params():
        model.set_params(alpha=0.01)  # scikit-learn's default may shrink all coefficients to 0
    pipeline = make_pipeline(preparation(model), model)
    step = pipeline.steps[-1][0]
    grid = {f"{step}__fit_intercept": [True, False]} if hasattr(model, "fit_intercept") else {}
    search = GridSearchCV(pipeline, grid, cv=2)
    tags = get_tags(model)
    poor = (tags.classifier_tags or tags.regressor_tags).poor_score
    # One column of six explains 0.4: as much as a greedy model takes by default.
    found = search.fit(few(model)[:1000], few(model, targets(model))[:1000])
    assert found.best_score_ > (-0.01 if poor else 0.3)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_tables_keep_their_names(name):
    import pandas
    import polars
    import pyarrow

    columns = [f"c{j}" for j in range(D)]
    x = np.asfortranarray(suited(ESTIMATORS[name], X[:110]))  # column by column, as in tables
    y = targets(ESTIMATORS[name])[:110]
    frame = pandas.DataFrame(x, columns=columns)
    expected = answer(brief(ESTIMATORS[name]).fit(x, y), x)
    for table in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        model = brief(ESTIMATORS[name]).fit(table, y)
        assert list(model.feature_names_in_) == columns
        got = np.asarray(answer(model, table))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)
    if not (says_of_new_rows(model) and takes_new_rows(model)):
        return
    wrong = frame.rename(columns={"c1": "other"})
    with pytest.raises(ValueError, match=r"other|c1"):
        answer(model, wrong)


def gives_tables(model):
    """Whether `transform` gives dense rows; tables of sparse ones are refused by scikit-learn."""
    return hasattr(model, "transform") and not isinstance(model, GraphTransformer)


@pytest.mark.parametrize("name", which(gives_tables))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_set_output(name):
    import pandas
    import polars

    model = brief(ESTIMATORS[name])
    frame = pandas.DataFrame(few(model)[:500], columns=[f"c{j}" for j in range(D)])
    y = (few(model, targets(model))[:500],) if name in PREDICTORS or needs_y(model) else ()
    for kind, table in (("pandas", pandas.DataFrame), ("polars", polars.DataFrame)):
        found = model.set_output(transform=kind).fit_transform(frame, *y)
        # Scores of X come as a pair with those of y.
        assert isinstance(found[0] if isinstance(found, tuple) else found, table)
