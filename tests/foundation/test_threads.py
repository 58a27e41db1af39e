"""One BLAS thread inside, what was before outside, SciPy's own BLAS included."""

import json
import subprocess
import sys

from threadpoolctl import threadpool_info

from thetahat.foundation.threads import one_blas_thread, scipy_linalg

LATE = """
import json, sys
import numpy
from threadpoolctl import threadpool_info
from thetahat.foundation.threads import one_blas_thread, scipy_linalg

def threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

before = threads()
with one_blas_thread():
    assert "scipy.linalg" not in sys.modules
    scipy_linalg()
    inside = threads()
    with one_blas_thread():
        pass
    assert threads() == inside
after = threads()
print(json.dumps([before, inside, after]))
"""


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_one_thread_inside_and_as_before_outside():
    scipy_linalg()
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        with one_blas_thread():
            pass
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_scipy_loaded_inside_is_limited_too():
    """In a new process, where nobody has loaded SciPy yet."""
    run = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    before, inside, after = json.loads(run.stdout)
    assert len(before) <= len(inside)
    assert set(inside) == {1}
    assert set(after) == set(before)
