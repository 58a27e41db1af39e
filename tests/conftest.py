"""How the tests share a machine: workers run side by side, so each has one BLAS thread."""

import gc

import scipy.linalg  # noqa: F401  (its BLAS is its own, and is limited with NumPy's)
from threadpoolctl import threadpool_limits


def pytest_configure():
    """Threads of NumPy and SciPy that wait for work would take time from the other workers.

    The library itself uses one BLAS thread anyway; processes that tests start are not limited.
    """
    threadpool_limits(1, "blas")


def pytest_collection_finish():
    """Tens of thousands of tests live to the end: the garbage collector need not visit them."""
    gc.collect()
    gc.freeze()
