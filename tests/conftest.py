"""How the tests share a machine: workers run side by side, so libraries have one thread each."""

import gc

import pytest
import scipy.linalg  # noqa: F401  (its BLAS is its own, and is limited with NumPy's)
import sklearn.utils  # noqa: F401  (as is its OpenMP)
from threadpoolctl import threadpool_limits


def pytest_configure():
    """Threads of NumPy, SciPy and scikit-learn that wait for work take time from the other workers.

    The library itself uses one BLAS thread anyway, and no OpenMP. Processes that tests start are
    not limited.
    """
    threadpool_limits(1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """What is collected stays, so that looking for garbage meanwhile finds none."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    """Tens of thousands of tests live to the end: the garbage collector need not visit them."""
    gc.collect()
    gc.freeze()
    gc.enable()
