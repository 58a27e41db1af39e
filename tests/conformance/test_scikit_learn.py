"""Every estimator keeps scikit-learn's contract: its checks, parameters, pipelines and tables."""

import inspect
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from tests.conformance.estimator_cases import (
    ESTIMATORS,
    PEERS,
    PREDICTORS,
    D,
    X,
    answer,
    answer_of,
    beside_the_point,
    brief,
    few,
    model_of,
    says_of_new_rows,
    suited,
    takes_labels,
    takes_new_rows,
    targets,
    which,
)
from thetahat.models.neighbors.graphs import GraphTransformer


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


@pytest.mark.slow
def test_scikit_learn_contract_under_array_dispatch():
    """The checks skipped above: SciPy's array inputs are enabled before its first import."""
    code = "from tests.conformance import estimator_cases as e; print(e.pass_array_checks())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    beside = sum("check_array_api_input" in beside_the_point(each) for each in ESTIMATORS.values())
    assert int(run.stdout) == len(ESTIMATORS) - beside


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
