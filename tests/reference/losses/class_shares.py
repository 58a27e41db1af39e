"""Class probabilities from scores."""

import numpy as np


def class_shares(scores):
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - np.where(np.isinf(top), 0.0, top))
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
