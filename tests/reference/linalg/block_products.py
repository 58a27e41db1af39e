"""Plain version of the products of the columns of centred rows."""

import numpy as np


def block_products(x, y, centre, scale, root_weight):
    """(Σ zzᵀ, Σ √w z) of the rows z = ((x, y) − centre)·scale·√w."""
    root = root_weight[:, None] if len(root_weight) else np.ones((len(x), 1))
    z = (np.column_stack([x.astype(float), y]) - centre) * scale * root
    return z.T @ z, (root * z).sum(axis=0)
