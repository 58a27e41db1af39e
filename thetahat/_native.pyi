"""Compiled kernels: pure functions on typed, contiguous arrays (sources in ``native/``)."""

from typing import Any

from numpy.typing import NDArray

FloatArray = NDArray[Any]

def pack_rows(
    x: FloatArray,
    centre: FloatArray,
    scale: FloatArray,
    root_weight: FloatArray,
    out: FloatArray,
    offset: int,
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
def compensated_gradient(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    centre: FloatArray,
    scale: FloatArray,
    gamma: FloatArray,
    gradient: FloatArray,
    gradient_error: FloatArray,
) -> None: ...
def leave_one_out_sums(
    y: FloatArray,
    fitted: FloatArray,
    fit_basis: FloatArray,
    leverage: FloatArray,
    basis: FloatArray,
    weight: FloatArray,
    base: float,
    smallest: float,
    total: FloatArray,
) -> None: ...
def matching_pursuit(
    gram: FloatArray,
    correlation: FloatArray,
    squares: FloatArray,
    most: int,
    tolerance: float,
    coef: FloatArray,
    residual: FloatArray,
    steps: NDArray[Any],
    path: FloatArray,
) -> None: ...
def sparse_codes(
    gram: FloatArray,
    l1: float,
    positive: bool,
    correlation: FloatArray,
    codes: FloatArray,
    tolerance: float,
    most_sweeps: int,
    violation: FloatArray,
) -> None: ...
def best_subsets(
    factor: FloatArray,
    z: FloatArray,
    rss: float,
    largest: int,
    cursor: NDArray[Any],
    best: FloatArray,
    members: NDArray[Any],
    budget: int,
) -> int: ...
def least_angles(
    gram: FloatArray,
    correlation: FloatArray,
    most: int,
    coef: FloatArray,
) -> None: ...
def sgd_epoch(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    order: NDArray[Any],
    rates: FloatArray,
    loss: int,
    knee: float,
    rule: int,
    multiplier: float,
    l2: float,
    l1: float,
    intercept: bool,
    coef: FloatArray,
    carried: FloatArray,
    paid: FloatArray,
    average: FloatArray,
    average_from: int,
) -> float: ...
def sgd_epoch_sparse(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    y: FloatArray,
    weight: FloatArray,
    order: NDArray[Any],
    rates: FloatArray,
    loss: int,
    knee: float,
    rule: int,
    multiplier: float,
    l2: float,
    l1: float,
    intercept: bool,
    coef: FloatArray,
    carried: FloatArray,
    paid: FloatArray,
    average: FloatArray,
    average_from: int,
) -> float: ...
def dual_epochs(*arguments: Any) -> float:
    """x (or data, indices, indptr), y, share, lower, upper, kink, curvature, penalty, constant,
    offset, beta, theta, seed, epochs, tolerance."""

def class_dual_epochs(*arguments: Any) -> float:
    """x (or data, indices, indptr), y, cost, constant, alpha, weights, seed, epochs, tolerance."""

def logistic_rows(y: FloatArray, z: FloatArray, value: FloatArray, slope: FloatArray) -> None: ...
def softmax_rows(y: FloatArray, z: FloatArray, value: FloatArray, slope: FloatArray) -> None: ...
def correlate(x: FloatArray, r: FloatArray, out: FloatArray, first: int) -> None: ...
def column_squares(
    x: FloatArray, mean: FloatArray, weight: FloatArray, out: FloatArray, first: int
) -> None: ...
def correlate_sparse(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    r: FloatArray,
    out: FloatArray,
    first: int,
) -> None: ...
def descend_dense(
    x: FloatArray,
    mean: FloatArray,
    y: FloatArray,
    working: NDArray[Any],
    squares: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    beta: FloatArray,
    residual: FloatArray,
    tolerance: float,
    floor: float,
    max_sweeps: int,
) -> tuple[int, float, bool]: ...
def descend_sparse(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    mean: FloatArray,
    total: float,
    y: FloatArray,
    working: NDArray[Any],
    squares: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    beta: FloatArray,
    residual: FloatArray,
    tolerance: float,
    floor: float,
    max_sweeps: int,
) -> tuple[int, float, bool]: ...
def descend_gram(
    gram: FloatArray,
    start: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    beta: FloatArray,
    slopes: FloatArray,
    tolerance: float,
    floor: float,
    max_sweeps: int,
) -> tuple[int, float, bool]: ...
def lasso_gap(
    beta: FloatArray,
    slopes: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    rr: float,
    yr: float,
) -> tuple[float, float, float]: ...
def descend_tasks(
    gram: FloatArray,
    start: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    beta: FloatArray,
    slopes: FloatArray,
    tolerance: float,
    floor: float,
    max_sweeps: int,
) -> tuple[int, float, bool]: ...
def task_gap(
    beta: FloatArray, slopes: FloatArray, l1: FloatArray, l2: FloatArray, rr: float, yr: float
) -> tuple[float, float]: ...
def check_trees(
    nodes: FloatArray, roots: FloatArray, sets: FloatArray, n_values: int, n_features: int
) -> None: ...
def sum_of_trees(
    x: FloatArray,
    nodes: FloatArray,
    roots: FloatArray,
    sets: FloatArray,
    values: FloatArray,
    out: FloatArray,
    n_features: int,
    threads: int,
) -> None: ...
def leaves_of_trees(
    x: FloatArray,
    nodes: FloatArray,
    roots: FloatArray,
    sets: FloatArray,
    out: FloatArray,
    n_features: int,
    threads: int,
) -> None: ...
