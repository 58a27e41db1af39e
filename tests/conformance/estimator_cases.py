"""Every estimator of the catalog, with rows and targets that suit it, and what it can be asked.

Estimators are discovered. A family's settings for the checks stand beside the check, not per
estimator: what an estimator cannot do it says by its tags.
"""

import warnings
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.discovery import all_estimators
from sklearn.utils.estimator_checks import estimator_checks_generator

import thetahat as th
from thetahat.catalog import estimators
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.models.cluster.density.base import DensityModel
from thetahat.models.decomposition.coded_rows import CodedRows
from thetahat.models.manifold.dissimilarities import DissimilarityEmbedding
from thetahat.models.manifold.graph_model import GraphModel
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


def says_of_new_rows(model):
    """False for embeddings and labels of the training rows alone."""
    return not isinstance(model, DensityModel | DissimilarityEmbedding | GraphModel | th.TSNE)


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
