"""Every public transformer of this folder, found in the catalog, with rows that it takes."""

import numpy as np

from thetahat.catalog import estimators

TRANSFORMERS = {
    name: cls
    for name, cls in estimators().items()
    if cls.__module__.startswith("thetahat.models.preprocessing")
}


def row_sums(X):
    return X.sum(axis=1)


SETTINGS = {
    "BiasFeature": [{"position": "first"}],
    "FeatureMap": [
        {"functions": {"product": (np.multiply, [0, 0]), "sum": row_sums}, "keep_columns": True}
    ],
    "MonomialExpansion": [
        {"degree": 3, "include_bias": False},
        {"form": "kernel"},
        {"form": "ordered"},
    ],
    "SimilarityFeatures": [{"landmarks": 10, "random_state": 0}],
    "Standardizer": [{"scale": "length"}, {"center": None}, {"center": 1.0, "scale": 2.0}],
    "Whitening": [{"method": "symmetric"}, {"regularization": 1e-3}],
}
"""Settings beside the defaults."""

CASES = [
    cls(**settings)
    for name, cls in TRANSFORMERS.items()
    for settings in [{}, *SETTINGS.get(name, [])]
]

BITS = np.random.default_rng(3).integers(0, 2, size=(60, 4)).astype(float)
"""Zeros and ones with varying columns: every transformer takes them."""
