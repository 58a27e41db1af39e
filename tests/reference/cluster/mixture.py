"""Plain NumPy versions of the sums of expectation-maximisation."""

import numpy as np
from scipy.special import logsumexp


def mixture_pass(X, weight, labels, log_scale, centres, roots):
    """log p(x), responsibilities, the log-likelihood, and the sums about the centres."""
    X = np.asarray(X, dtype=np.float64)
    apart = X[:, None, :] - centres
    along = np.einsum("nki,kij->nkj", apart, roots)
    joint = log_scale - 0.5 * (along**2).sum(axis=2)
    logs = logsumexp(joint, axis=1)
    shares = np.exp(joint - logs[:, None])
    known = labels >= 0
    value = np.where(known, joint[np.arange(len(X)), labels], logs) @ weight
    shares[known] = np.eye(len(centres))[labels[known]]
    held = shares * weight[:, None]
    first = np.einsum("nk,nki->ki", held, apart)
    second = np.einsum("nk,nki,nkj->kij", held, apart, apart)
    return logs, joint, shares, value, held.sum(axis=0), first, second
