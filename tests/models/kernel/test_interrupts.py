"""Ctrl-C does not wait for one long call into LAPACK."""

import threading

import numpy as np
import pytest
import scipy.linalg

import thetahat as th
from thetahat.foundation import threads

FITS = {
    "Nystroem": lambda X: th.Nystroem(n_components=20, random_state=0).fit(X),
    "KernelPCA": lambda X: th.KernelPCA(3, kernel="rbf", eigen_solver="dense").fit(X),
    "KernelRidgeCV": lambda X: th.KernelRidgeCV(kernel="rbf").fit(X, X[:, 0]),
    "several penalties": lambda X: th.KernelRidge(alpha=[1.0, 2.0], kernel="rbf").fit(X, X),
}


@pytest.mark.parametrize("name", FITS)
def test_decompositions_leave_the_main_thread_free(name, monkeypatch):
    monkeypatch.setattr(threads, "LONG_CALL", 0)
    seen = []

    def watched(decompose):
        def call(*args, **kwargs):
            seen.append(threading.current_thread() is threading.main_thread())
            return decompose(*args, **kwargs)

        return call

    for module in (np.linalg, scipy.linalg):
        monkeypatch.setattr(module, "eigh", watched(module.eigh))
    FITS[name](np.random.default_rng(0).standard_normal((40, 2)))
    assert seen
    assert not any(seen)
