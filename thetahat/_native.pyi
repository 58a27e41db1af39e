"""Compiled kernels: pure functions on typed, contiguous arrays (sources in ``native/``)."""

from typing import Any

from numpy.typing import NDArray

FloatArray = NDArray[Any]

def pack_rows(
    x: FloatArray, centre: FloatArray, root_weight: FloatArray, out: FloatArray, offset: int
) -> None: ...
def sparse_gram(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weight: FloatArray,
    gram: FloatArray,
) -> None: ...
def quadratic_sweeps(
    gram: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    theta: FloatArray,
    gradient: FloatArray,
    sweeps: int,
) -> float: ...
