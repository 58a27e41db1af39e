"""Families of benchmark cases: one file each, in a folder of its kind."""

from importlib import import_module
from types import ModuleType

FOLDERS = {
    "linear": "linear",
    "ridge": "linear",
    "sparse": "linear",
    "logistic": "linear",
    "margin": "linear",
    "corners_classification": "corners",
    "corners_margin": "corners",
    "kernels": "kernels",
    "kernel_features": "kernels",
    "kernel_regressors": "kernels",
    "kernel_classifiers": "kernels",
    "support_vectors": "kernels",
    "stochastic": "linear",
    "nonlinear": "linear",
    "robust": "linear",
    "corners_regression": "corners",
    "corners_losses": "corners",
    "bayes": "linear",
    "selection": "linear",
    "evaluation": "evaluation",
    "coverage": "evaluation",
    "conformal": "evaluation",
    "factors": "unsupervised",
    "principal": "unsupervised",
    "nonnegative": "unsupervised",
    "adaboost": "trees",
    "tree": "trees",
    "density": "probability",
    "naive_bayes": "probability",
    "discriminant": "probability",
    "covariance": "probability",
    "graphical": "probability",
    "clusters": "unsupervised",
    "density_clusters": "unsupervised",
    "hierarchies": "unsupervised",
    "mixture": "probability",
    "pictures": "unsupervised",
    "surfaces": "unsupervised",
    "latent": "unsupervised",
    "spectral": "unsupervised",
    "neighbors": "neighbors",
    "approximate_neighbors": "neighbors",
    "neighbor_models": "neighbors",
    "real_data": "trees",
    "neural": "neural",
    "neural_tables": "neural",
    "chosen_models": "evaluation",
    "combination": "trees",
    "boosting": "trees",
    "contributions": "trees",
    "forest": "trees",
    "isolation": "trees",
    "corners_trees": "corners",
}
"""Family → the folder of its file, in the order in which families run."""

FAMILIES = tuple(FOLDERS)


def family_module(family: str) -> ModuleType:
    """The module with the cases and studies of a family."""
    return import_module(f"{__name__}.{FOLDERS[family]}.{family}")
