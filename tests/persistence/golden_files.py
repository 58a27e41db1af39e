"""Model files of the current format, kept for ever: ``python -m tests.persistence.golden_files``.

Writes one file per estimator of the catalog, one of an ensemble of many trees, one of a pipeline,
with the rows and the answers they gave, under ``golden/<format>/``. Files that are there already
are never touched: what was written once must load for ever.
"""

import warnings
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import thetahat as th
from thetahat.catalog import estimators
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.persistence.container import VERSION

GOLDEN = Path(__file__).parent / "golden"
SMALL = {"n_estimators": 3, "max_iter": 200, "max_leaf_nodes": 5, "n_components": 2}

RANDOM = np.random.default_rng(0)
X = np.abs(RANDOM.standard_normal((60, 3))).round(3)
Y = (X @ [1.0, 2.0, 3.0] + RANDOM.standard_normal(60)).round(3)


def rows(model):
    """The rows, in whole numbers where the model takes nothing but categories."""
    only_categories = get_tags(model).input_tags.categorical and is_classifier(model)
    return np.floor(X) if only_categories else X


def answer(model):
    """What a fitted model says of the rows."""
    for method in ("decision_function", "predict_proba", "log_density", "predict", "transform"):
        if hasattr(model, method):
            found = getattr(model, method)(rows(model))
            return np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    if hasattr(model, "kneighbors"):
        return model.kneighbors(X)[0]
    if hasattr(model, "embedding_"):
        return model.embedding_
    if hasattr(model, "labels_"):  # clusters of the training rows alone
        return model.labels_
    raise AssertionError(model)


def fitted(name):
    """A small fitted model of one class."""
    model = estimators()[name]._example()
    known = model.get_params()
    kept = [key for key in SMALL if known.get(key) == -1]  # no limit
    if known.get("n_components") == 1:
        kept.append("n_components")  # pairs with a single target
    model.set_params(**{key: SMALL[key] for key in SMALL if key in known and key not in kept})
    if is_classifier(model) and hasattr(model, "transform") and "n_components" in known:
        model.set_params(n_components=1)  # discriminants of two classes
    if model._grows_by_steps and "max_iter" in known:
        model.set_params(max_iter=3)
    if name == "MiniBatchDictionaryLearning":
        model.set_params(tol=0.2)  # reached in three steps
    if "random_state" in known:
        model.set_params(random_state=0)
    return model.fit(rows(model), targets(model))


def models():
    """One small fitted model of every class, an ensemble of many trees, and a pipeline."""
    for name in estimators():
        yield name, fitted(name)
    many = th.AdaBoostClassifier(n_estimators=20, random_state=np.random.default_rng(0))
    yield "many_trees", many.fit(X, np.where(Y > 5, "yes", "no"))
    graph = th.KNeighborsClassifier(algorithm=th.ApproximateSearch(n_links=4, width=8))
    yield (
        "neighbor_graph",
        graph.fit(np.tile(X, (20, 1)), np.tile(np.where(Y > 5, "yes", "no"), 20)),
    )
    forest = th.RandomForestRegressor(n_estimators=3, max_leaf_nodes=5, random_state=0)
    yield "gains_of_used_columns", forest.fit(X, np.abs(Y))
    pipeline = make_pipeline(StandardScaler(), th.LogisticRegression())
    yield "pipeline", pipeline.fit(X, np.where(Y > 5, "yes", "no"))


def targets(model):
    tags = get_tags(model).target_tags
    labelled = isinstance(model, LabelledEstimator) and not is_regressor(model)
    if is_classifier(model) or labelled:
        return np.where(Y > 5, "yes", "no")
    if is_regressor(model) and not tags.single_output:
        return np.column_stack([np.abs(Y), X[:, 0]])
    return np.abs(Y)


def main():
    folder = GOLDEN / str(VERSION)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    np.save(folder / "rows.npy", X)
    for name, model in models():
        path = folder / f"{name}.theta"
        if not path.exists():
            th.save(model, path)
            np.save(path.with_suffix(".npy"), answer(model))


if __name__ == "__main__":
    main()
