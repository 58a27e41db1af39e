"""Compiled kernels: pure functions on typed, contiguous arrays (sources in ``native/``)."""

from collections.abc import Callable
from typing import Any, overload

from numpy.typing import NDArray

FloatArray = NDArray[Any]
TreeParts = tuple[
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
]
"""The arrays of `thetahat.models.tree.structure.Tree`, in its order."""
GradientScales = tuple[float, float, bool, bool, bool, bool, int]

def pack_rows(
    x: FloatArray,
    centre: FloatArray,
    scale: FloatArray,
    root_weight: FloatArray,
    out: FloatArray,
    offset: int,
) -> None: ...
def block_products(
    x: FloatArray,
    y: FloatArray,
    centre: FloatArray,
    scale: FloatArray,
    root_weight: FloatArray,
    out: FloatArray,
    sums: FloatArray,
    span: int,
    threads: int,
) -> None: ...
def class_moments(
    x: FloatArray,
    code: NDArray[Any],
    weight: FloatArray,
    total: FloatArray,
    mean: FloatArray,
    scatter: FloatArray,
) -> None: ...
def class_sums(
    x: FloatArray,
    code: NDArray[Any],
    weight: FloatArray,
    binary: bool,
    threshold: float,
    sums: FloatArray,
) -> float: ...
def class_sums_sparse(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    code: NDArray[Any],
    weight: FloatArray,
    binary: bool,
    threshold: float,
    sums: FloatArray,
) -> float: ...
def diagonal_gaussians(
    x: FloatArray,
    mean: FloatArray,
    factor: FloatArray,
    constant: FloatArray,
    out: FloatArray,
) -> None: ...
def pack_class_rows(
    x: FloatArray,
    rows: NDArray[Any],
    codes: NDArray[Any],
    centres: FloatArray,
    scale: FloatArray,
    root: FloatArray,
    out: FloatArray,
    sums: FloatArray,
) -> None: ...
def class_shares(scores: FloatArray, out: FloatArray) -> int: ...
def whitened_squares(
    x: FloatArray,
    centre: FloatArray,
    scale: FloatArray,
    roots: FloatArray,
    offsets: FloatArray,
    out: FloatArray,
) -> None: ...
def quadratic_forms(
    x: FloatArray,
    centre: FloatArray,
    scale: FloatArray,
    roots: FloatArray,
    offsets: FloatArray,
    out: FloatArray,
) -> None: ...
def class_squares(
    x: FloatArray,
    rows: NDArray[Any],
    codes: NDArray[Any],
    centres: FloatArray,
    scale: FloatArray,
    root: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None: ...
def loss_sums(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    constant: float,
    loss: int,
    knee: float,
    slope: FloatArray,
) -> float: ...
@overload
def class_loss_sums(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    n_classes: int,
    slope: FloatArray,
    threads: int,
) -> float: ...
@overload
def class_loss_sums(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_columns: int,
    y: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    n_classes: int,
    slope: FloatArray,
    threads: int,
) -> float: ...
def sparse_loss_sums(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    columns: int,
    y: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    constant: float,
    loss: int,
    knee: float,
    slope: FloatArray,
) -> float: ...
def curved_gram(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    constant: float,
    loss: int,
    knee: float,
    entries: NDArray[Any],
    out: FloatArray,
) -> None: ...
def huber_sums(
    x: FloatArray,
    theta: FloatArray,
    constant: float,
    y: FloatArray,
    weight: FloatArray,
    reach: float,
    known: NDArray[Any],
    inside: NDArray[Any],
    sums: FloatArray,
    pulls: FloatArray,
    gram: FloatArray,
) -> int: ...
def rounded_rows(
    z: FloatArray,
    y: FloatArray,
    anchor: FloatArray,
    weight: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    curvature: float,
    reach: float,
    multipliers: FloatArray,
    pull: FloatArray,
    bend: FloatArray,
    sums: FloatArray,
) -> None: ...
def rounded_sums(
    x: FloatArray,
    theta: FloatArray,
    constant: float,
    y: FloatArray,
    anchor: FloatArray,
    weight: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    curvature: float,
    reach: float,
    z: FloatArray,
    multipliers: FloatArray,
    sums: FloatArray,
    pull: FloatArray,
    gram: FloatArray,
) -> None: ...
def flat_step(
    y: FloatArray,
    z: FloatArray,
    across: FloatArray,
    anchor: FloatArray,
    share: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    curvature: float,
    reach: float,
    level: float,
    rise: float,
    flat: float,
) -> float: ...
def sparse_gram(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weight: FloatArray,
    gram: FloatArray,
) -> None: ...
def sparse_pullback(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    slope: FloatArray,
    found: FloatArray,
) -> None: ...
def sparse_squares(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weight: FloatArray,
    found: FloatArray,
) -> None: ...
def sparse_least_squares(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    root: FloatArray,
    mean: FloatArray,
    scale: FloatArray,
    targets: FloatArray,
    damp: float,
    tolerance: float,
    most_steps: int,
    threads: int,
    theta: FloatArray,
    report: FloatArray,
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
def least_angle_path(
    matrix: FloatArray,
    correlation: FloatArray,
    by_columns: bool,
    most_steps: int,
    widest: int,
    lowest: float,
    lasso: bool,
    positive: bool,
    keep_path: bool,
) -> tuple[FloatArray, FloatArray, FloatArray, int, int, int]: ...
def exchange_columns(
    table: FloatArray,
    inside: FloatArray,
    beta_inside: FloatArray,
    sign_inside: FloatArray,
    l1_inside: FloatArray,
    outside: FloatArray,
    beta_outside: FloatArray,
    sign_outside: FloatArray,
    l1_outside: FloatArray,
) -> None: ...
def compiled_newton(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    constant: float,
    loss: int,
    knee: float,
    ridge: FloatArray,
    total: float,
    tolerance: float,
    max_steps: int,
    least: float,
    shortest: float,
) -> tuple[float, float, float, float, int, int]: ...
def l1_newton(*arguments: Any) -> tuple[float, float, float, float, int, int]:
    """Columns of X as rows (or data, indices, indptr, n_columns), constant, y, share, loss, knee,
    l1, l2, theta, tolerance, max_steps, threads."""

def newton_cg(*arguments: Any) -> tuple[float, float, float, float, int, int]:
    """x (or data, indices, indptr, n_columns), constant, y, share, loss, knee, ridge, theta,
    tolerance, max_steps, threads."""

def tangent(
    jacobian: FloatArray,
    residuals: FloatArray,
    scale: FloatArray,
    triangle: FloatArray,
    values: FloatArray,
    basis: FloatArray,
    image: FloatArray,
) -> None: ...
def trust_region_place(
    jacobian: FloatArray,
    residuals: FloatArray,
    theta: FloatArray,
    low: FloatArray,
    high: FloatArray,
    before: FloatArray,
    scale: FloatArray,
    triangle: FloatArray,
    values: FloatArray,
    basis: FloatArray,
    image: FloatArray,
) -> float | None:
    """Returns the gap, or None for cases that it does not treat."""

def trust_region_step(
    values: FloatArray,
    basis: FloatArray,
    image: FloatArray,
    scale: FloatArray,
    theta: FloatArray,
    low: FloatArray,
    high: FloatArray,
    radius: float,
    move: FloatArray,
    moved: FloatArray,
) -> tuple[float, float, float] | None:
    """Returns length, damping and predicted decrease, or None for cases that it does not treat."""

def lbfgs(
    evaluate: Callable[[FloatArray], tuple[float, FloatArray]],
    report: Callable[[FloatArray], None],
    theta: FloatArray,
    memory: int,
) -> None: ...
def kink_newton(*arguments: Any) -> tuple[float, float, float, float, int, int]:
    """x, theta, constant, y, weight, lower, upper, kink, curvature, strengths, strength, total,
    growth, rounding_share, least, tolerance, max_steps, multipliers."""

def newton_direction(hessian: FloatArray, gradient: FloatArray, least: float) -> bool: ...
def sgd_epoch(*arguments: Any) -> float:
    """x (or data, indices, indptr, n_columns), y, weight, order, rates, loss, knee, rule,
    multiplier, l2, l1, level, intercept, coef, carried, paid, average, average_from."""

def sgd_epochs(*arguments: Any) -> int:
    """As sgd_epoch, and visits, mass, tolerance, patience, progress."""

def shuffled_rows(seeds: NDArray[Any], orders: NDArray[Any]) -> None: ...
def dual_epochs(*arguments: Any) -> tuple[float, int]:
    """x (or data, indices, indptr, n_columns), y, share, lower, upper, kink, curvature, penalty,
    constant, offset, beta, theta, seed, epochs, tolerance."""

def class_dual_epochs(*arguments: Any) -> float:
    """x (or data, indices, indptr, n_columns), y, cost, constant, alpha, weights, seed, epochs,
    tolerance."""

def plane_weights(
    psi: FloatArray,
    delta: FloatArray,
    a: FloatArray,
    order: NDArray[Any],
    starts: NDArray[Any],
    shares: FloatArray,
    alpha: float,
    w: FloatArray,
    passes: int,
    tolerance: float,
) -> float: ...
def correlate(x: FloatArray, r: FloatArray, out: FloatArray, first: int) -> None: ...
def centre_products(
    products: FloatArray, first: FloatArray, weight: float, offset: FloatArray
) -> float: ...
def column_frame(x: FloatArray, centre: FloatArray, unit: FloatArray, first: int) -> None: ...
def column_squares(
    x: FloatArray, mean: FloatArray, weight: FloatArray, out: FloatArray, first: int
) -> None: ...
def survey_columns(
    x: FloatArray,
    mean: FloatArray,
    weight: FloatArray,
    r: FloatArray,
    first: int,
    last: int,
    squares: FloatArray,
    slopes: FloatArray,
    steps: FloatArray,
    levels: NDArray[Any],
) -> None: ...
def slopes_near(
    x: FloatArray,
    mean: FloatArray,
    levels: NDArray[Any],
    steps: FloatArray,
    r: FloatArray,
    near: FloatArray,
    first: int,
    last: int,
    slopes: FloatArray,
    slack: FloatArray,
) -> None: ...
def combine_rows(
    matrix: FloatArray, rows: NDArray[Any], weights: FloatArray, out: FloatArray
) -> None: ...
def correlate_sparse(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    r: FloatArray,
    out: FloatArray,
    first: int,
) -> None: ...
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
    share: float,
) -> tuple[int, float, bool]: ...
def gram_path(
    gram: FloatArray,
    start: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    lower: float,
    first: FloatArray,
    tolerance: float,
    floor: float,
    most_steps: int,
    share: float,
    once: bool,
    betas: FloatArray,
    values: FloatArray,
    gaps: FloatArray,
    steps: NDArray[Any],
) -> int: ...
def sweep_path(
    x: FloatArray,
    y: FloatArray,
    squares: FloatArray,
    start: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    first: FloatArray,
    tolerance: float,
    floor: float,
    most_sweeps: int,
    share: float,
    once: bool,
    betas: FloatArray,
    values: FloatArray,
    gaps: FloatArray,
    sweeps: NDArray[Any],
    slopes: FloatArray,
) -> int: ...

class ActiveSet:
    def __init__(self, rank: int) -> None: ...
    def clear(self) -> None: ...

def descend_gram(
    gram: FloatArray,
    start: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    beta: FloatArray,
    slopes: FloatArray,
    active: ActiveSet,
    tolerance: float,
    floor: float,
    max_sweeps: int,
    share: float,
) -> tuple[int, float, bool]: ...
def lasso_gap(
    beta: FloatArray,
    slopes: FloatArray,
    slack: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    rr: float,
    yr: float,
) -> tuple[float, float, float, float]: ...
def lasso_move(
    beta: FloatArray,
    slopes: FloatArray,
    slack: FloatArray,
    squares: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
) -> tuple[float, float]: ...
def lasso_room(
    beta: FloatArray,
    slopes: FloatArray,
    slack: FloatArray,
    squares: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    lower: FloatArray,
    scale: float,
    out: FloatArray,
) -> None: ...
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
    beta: FloatArray,
    slopes: FloatArray,
    squares: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    rr: float,
    yr: float,
    room: FloatArray,
) -> tuple[float, float]: ...
def check_nodes(
    feature: FloatArray, left: FloatArray, category_set: FloatArray, n_sets: int, n_features: int
) -> None: ...
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
def shapley_of_trees(
    x: FloatArray,
    nodes: NDArray[Any],
    roots: NDArray[Any],
    sets: NDArray[Any],
    values: FloatArray,
    weights: FloatArray,
    out: FloatArray,
    base: FloatArray,
    n_features: int,
    threads: int,
) -> None: ...
def sum_out_of_bag(
    x: FloatArray,
    nodes: FloatArray,
    roots: FloatArray,
    sets: FloatArray,
    values: FloatArray,
    grown_on: FloatArray,
    out: FloatArray,
    votes: FloatArray,
    n_features: int,
    threads: int,
) -> None: ...
def fill_sparse_block(
    data: FloatArray,
    indices: FloatArray,
    indptr: FloatArray,
    places: FloatArray,
    first: int,
    empty: bool,
    block: FloatArray,
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
def grow_density(
    columns: FloatArray,
    rows: FloatArray,
    weight: FloatArray,
    low: FloatArray,
    high: FloatArray,
    score: int,
    full: bool,
    exact: bool,
    oblique: bool,
    candidates: int,
    seed: int,
    prior: float,
    min_weight: float,
    min_gain: float,
    max_leaves: int,
    max_depth: int,
    threads: int,
) -> tuple[TreeParts, FloatArray]: ...

class ForestDensities:
    def __init__(self) -> None: ...
    def add(
        self,
        nodes: NDArray[Any],
        roots: NDArray[Any],
        place: NDArray[Any],
        low: FloatArray,
        high: FloatArray,
        means: FloatArray,
        factors: FloatArray,
        log_scale: FloatArray,
    ) -> None: ...
    def logs(self, x: FloatArray, start: FloatArray, out: FloatArray) -> None: ...

def gaussian_leaves(
    x: FloatArray,
    leaf: FloatArray,
    means: FloatArray,
    factors: FloatArray,
    log_scale: FloatArray,
    out: FloatArray,
    threads: int,
) -> None: ...
def weighted_median(
    values: FloatArray, weight: FloatArray, out: FloatArray, threads: int
) -> None: ...
def ranked_median(
    ranks: FloatArray,
    weight: FloatArray,
    column_of: FloatArray,
    values: FloatArray,
    out: FloatArray,
    threads: int,
) -> None: ...
def quantile_cuts(sorted: FloatArray, weight: FloatArray, max_bins: int) -> FloatArray: ...
def bin_codes(
    x: FloatArray,
    cuts: FloatArray,
    cut_offsets: FloatArray,
    lookup: FloatArray,
    lookup_offsets: FloatArray,
    by_row: FloatArray,
    by_column: FloatArray,
    threads: int,
) -> None: ...

class SparseCodes:
    n_rows: int

def sparse_bin_codes(
    starts: FloatArray,
    rows: FloatArray,
    codes: FloatArray,
    n_codes: FloatArray,
    zero: FloatArray,
    n_rows: int,
) -> SparseCodes: ...
@overload
def grow_gradient_tree(
    by_row: FloatArray,
    by_column: FloatArray,
    cuts: FloatArray,
    cut_offsets: FloatArray,
    lookup: FloatArray,
    lookup_offsets: FloatArray,
    rows: FloatArray,
    gradient: FloatArray,
    hessian: FloatArray,
    weight: FloatArray,
    max_leaves: int,
    max_depth: int,
    min_split: float,
    min_rows: float,
    min_hessian: float,
    min_gain: float,
    l2: float,
    rows_by_curvature: bool,
    max_features: int,
    monotonic: FloatArray,
    groups: FloatArray,
    seed: int,
    threads: int,
) -> tuple[TreeParts, FloatArray, FloatArray, FloatArray]: ...
@overload
def grow_gradient_tree(
    codes: SparseCodes, *arguments: Any
) -> tuple[TreeParts, FloatArray, FloatArray, FloatArray]: ...
def gradient_sums(
    gradient: FloatArray, hessian: FloatArray, weight: FloatArray
) -> tuple[float, float, float, float, bool]: ...
def gradient_scales(
    sums: tuple[float, float, float, float, bool], n_rows: int, counts: bool
) -> GradientScales: ...
def gradient_words(
    gradient: FloatArray,
    hessian: FloatArray,
    weight: FloatArray,
    scales: GradientScales,
    first: int,
    seed: int,
) -> FloatArray: ...
def leaf_histograms(
    by_row: FloatArray,
    n_columns: int,
    stride: int,
    rows: FloatArray,
    bounds: FloatArray,
    words: FloatArray,
    weight: FloatArray,
    with_weights: bool,
) -> tuple[FloatArray, FloatArray]: ...
def grow_from_histograms(
    cuts: FloatArray,
    cut_offsets: FloatArray,
    lookup: FloatArray,
    lookup_offsets: FloatArray,
    facts: FloatArray,
    words: FloatArray,
    weights: FloatArray,
    scales: GradientScales,
    *arguments: Any,
) -> tuple[TreeParts, FloatArray]: ...
def add_to_leaves(
    order: FloatArray,
    bounds: FloatArray,
    values: FloatArray,
    out: FloatArray,
    column: int,
    threads: int,
) -> None: ...
def leaf_quantiles(
    order: FloatArray,
    bounds: FloatArray,
    values: FloatArray,
    weight: FloatArray,
    level: float,
    out: FloatArray,
    threads: int,
) -> None: ...
def leaf_hubers(
    order: FloatArray,
    bounds: FloatArray,
    values: FloatArray,
    weight: FloatArray,
    delta: float,
    out: FloatArray,
    threads: int,
) -> None: ...

class ForestColumns:
    n_rows: int
    n_columns: int

def binned_columns(
    x: FloatArray, codes: FloatArray, n_codes: FloatArray, categorical: FloatArray
) -> ForestColumns: ...
def coded_columns(
    codes: FloatArray,
    n_codes: FloatArray,
    categorical: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    random: bool = False,
) -> ForestColumns: ...
def ranked_columns(
    x: FloatArray, n_categories: FloatArray, categorical: FloatArray, threads: int
) -> ForestColumns: ...
def value_columns(
    x: FloatArray, n_categories: FloatArray, categorical: FloatArray, threads: int
) -> ForestColumns: ...
def sparse_forest_columns(
    starts: FloatArray,
    rows: FloatArray,
    data: FloatArray,
    n_rows: int,
    as_values: bool,
    cuts: FloatArray,
    cut_offsets: FloatArray,
    threads: int,
) -> ForestColumns: ...
def grow_forest(
    columns: ForestColumns,
    monotone: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    n_classes: int,
    criterion: str,
    seeds: FloatArray,
    draws: int,
    balanced: bool,
    replacement: bool,
    max_features: int,
    features_per_tree: int,
    max_candidates: int,
    exact_rows: int,
    max_depth: int,
    max_leaves: int,
    min_split: int,
    min_leaf: int,
    min_weight_share: float,
    min_decrease: float,
    first_value: int,
    first_set: int,
    threads: int,
) -> tuple[FloatArray, ...]: ...
def grow_isolation_trees(
    x: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    seeds: FloatArray,
    max_depth: int,
    first_value: int,
    threads: int,
) -> tuple[FloatArray, ...]: ...
def grow_sparse_isolation_trees(
    data: FloatArray,
    indices: FloatArray,
    indptr: FloatArray,
    n_columns: int,
    rows: FloatArray,
    columns: FloatArray,
    seeds: FloatArray,
    max_depth: int,
    first_value: int,
    threads: int,
) -> tuple[FloatArray, ...]: ...
def complete_inner_nodes(
    left: FloatArray,
    count: FloatArray,
    weight: FloatArray,
    impurity: FloatArray,
    values: FloatArray,
    poisson: bool,
) -> None: ...
def drawn_counts(
    seed: int, draws: int, weight: FloatArray, out: FloatArray, replacement: bool
) -> None: ...
def logistic_slopes(
    y: FloatArray, z: FloatArray, slope: FloatArray, curvature: FloatArray, threads: int
) -> None: ...
def softmax_slopes(
    y: FloatArray, z: FloatArray, slope: FloatArray, curvature: FloatArray, threads: int
) -> None: ...

class SortedColumns:
    n_rows: int
    n_columns: int
    ordered: bool

def sorted_columns(
    x: FloatArray, categorical: FloatArray, ordered: bool, threads: int, keep_values: bool = True
) -> SortedColumns: ...
def sparse_columns(
    starts: FloatArray,
    rows: FloatArray,
    data: FloatArray,
    n_rows: int,
    ordered: bool,
    threads: int,
) -> SortedColumns: ...
def grow_statistic_tree(
    columns: SortedColumns,
    y: FloatArray,
    weight: FloatArray,
    *,
    criterion: str,
    n_classes: int,
    max_depth: int,
    max_leaves: int,
    best_first: bool,
    min_split: int,
    min_leaf: int,
    min_weight: float,
    min_decrease: float,
    min_gain: float,
    max_features: int,
    at_values: bool,
    category_subsets: bool,
    monotone: FloatArray,
    seed: int,
    threads: int,
    random_ties: bool = False,
    use_up: bool = False,
) -> TreeParts: ...

class StumpBins:
    n_rows: int
    n_columns: int

def stump_bins(columns: SortedColumns, classes: FloatArray, threads: int) -> StumpBins: ...
def grow_stump(
    columns: SortedColumns, bins: StumpBins, weight: FloatArray, left: FloatArray, threads: int
) -> TreeParts: ...

class DensitySums:
    def logs(
        self,
        queries: FloatArray,
        kernel: int,
        power: float,
        factor: float,
        width: float,
        atol: float,
        rtol: float,
        result: FloatArray,
        threads: int,
    ) -> None: ...

class ColumnLikelihoods:
    def __init__(self, columns: int, classes: int) -> None: ...
    def add_gaussians(
        self, places: NDArray[Any], mean: FloatArray, factor: FloatArray, scale: FloatArray
    ) -> None: ...
    def add_levels(
        self, places: NDArray[Any], levels: FloatArray, first: NDArray[Any], table: FloatArray
    ) -> None: ...
    def add_bins(
        self,
        places: NDArray[Any],
        low: FloatArray,
        width: FloatArray,
        first: NDArray[Any],
        table: FloatArray,
    ) -> None: ...
    def add_kernels(
        self,
        places: NDArray[Any],
        sums: list[DensitySums],
        kernel: int,
        width: FloatArray,
        level: FloatArray,
    ) -> None: ...
    def cost(self) -> float: ...
    def logs(self, x: FloatArray, start: FloatArray, out: FloatArray, threads: int) -> None: ...

class NearestRows:
    def __init__(
        self,
        rows: FloatArray,
        leaf_size: int,
        p: float,
        counts_differences: bool,
        alternating: bool,
        random: bool,
        seed: int,
        threads: int,
    ) -> None: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def depth(self) -> int: ...
    def density_sums(self, weights: FloatArray) -> DensitySums: ...
    def nearest(
        self, queries: FloatArray, distance: FloatArray, row: FloatArray, threads: int
    ) -> None: ...
    def within(
        self, queries: FloatArray, radius: FloatArray, by_distance: bool, most: int, threads: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]: ...
    def count(
        self, queries: FloatArray, radius: FloatArray, counts: FloatArray, threads: int
    ) -> None: ...
    def moments(
        self,
        queries: FloatArray,
        limits: FloatArray,
        widths: FloatArray,
        centres: FloatArray,
        features: FloatArray,
        weights: FloatArray,
        values: FloatArray,
        parent: FloatArray,
        column: FloatArray,
        kernel: int,
        power: float,
        factor: float,
        squared: bool,
        a: FloatArray,
        b: FloatArray,
        threads: int,
    ) -> None: ...

class SparseRows64:
    def __init__(
        self,
        data: FloatArray,
        columns: FloatArray,
        start: FloatArray,
        transposed_data: FloatArray,
        transposed_rows: FloatArray,
        transposed_start: FloatArray,
        low: FloatArray,
        slack: float,
        absolute: bool,
    ) -> None: ...
    def nearest(
        self,
        data: FloatArray,
        columns: FloatArray,
        start: FloatArray,
        query_low: FloatArray,
        distance: FloatArray,
        row: FloatArray,
        threads: int,
    ) -> None: ...
    def within(
        self,
        data: FloatArray,
        columns: FloatArray,
        start: FloatArray,
        query_low: FloatArray,
        radius: FloatArray,
        by_distance: bool,
        most: int,
        threads: int,
    ) -> tuple[FloatArray, FloatArray, FloatArray]: ...

class SparseRows32(SparseRows64): ...

def pair_distances(
    kind: str, X: FloatArray, Y_transposed: FloatArray, out: FloatArray, threads: int
) -> None: ...
def reduced_distances(
    p: float,
    counts_differences: bool,
    X: FloatArray,
    Y_transposed: FloatArray,
    out: FloatArray,
    threads: int,
) -> None: ...

class NeighborGraph:
    def __init__(self, points: FloatArray, capacity: int, manhattan: bool) -> None: ...
    @property
    def centre(self) -> int: ...
    def restore(self, links: FloatArray, entry: int) -> None: ...
    def links(self) -> FloatArray: ...
    def first(self, rows: FloatArray, n_links: int, slack: float, threads: int) -> None: ...
    def extend(
        self, rows: FloatArray, width: int, n_links: int, slack: float, threads: int
    ) -> None: ...
    def search(self, queries: FloatArray, found: FloatArray, threads: int) -> None: ...

def nearest_candidates(
    queries: FloatArray,
    rows: FloatArray,
    candidates: FloatArray,
    manhattan: bool,
    distance: FloatArray,
    row: FloatArray,
    threads: int,
) -> None: ...
def smo_matrix(
    matrix: FloatArray,
    diagonal: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    split: int,
    beta: FloatArray,
    gradient: FloatArray,
    limit: int,
    tolerance: float,
) -> tuple[int, float, bool, int]: ...
def smo_pairs_columns(
    columns: FloatArray,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    ends: FloatArray,
    pairs: FloatArray,
    cost: FloatArray,
    limit: int,
    tolerance: float,
    beta: FloatArray,
    numbers: FloatArray,
    steps: FloatArray,
    threads: int,
) -> None: ...
def smo_pairs_matrix(
    matrix: FloatArray,
    which: FloatArray,
    ends: FloatArray,
    pairs: FloatArray,
    cost: FloatArray,
    limit: int,
    tolerance: float,
    beta: FloatArray,
    numbers: FloatArray,
    steps: FloatArray,
    threads: int,
) -> None: ...
def smo_part(
    matrix: FloatArray,
    which: FloatArray,
    store: FloatArray,
    slot_of: FloatArray,
    held: FloatArray,
    used: FloatArray,
    diagonal: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    split: int,
    beta: FloatArray,
    gradient: FloatArray,
    limit: int,
    tolerance: float,
) -> tuple[int, float, bool, int]: ...
def smo_called(
    function: Any,
    store: FloatArray,
    slot_of: FloatArray,
    held: FloatArray,
    used: FloatArray,
    diagonal: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    split: int,
    beta: FloatArray,
    gradient: FloatArray,
    limit: int,
    tolerance: float,
) -> tuple[int, float, bool, int]: ...
def smo_columns(
    columns: FloatArray,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    threads: int,
    store: FloatArray,
    slot_of: FloatArray,
    held: FloatArray,
    used: FloatArray,
    diagonal: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    split: int,
    beta: FloatArray,
    gradient: FloatArray,
    limit: int,
    tolerance: float,
) -> tuple[int, float, bool, int]: ...
def smo_sparse(
    start: FloatArray,
    column: FloatArray,
    value: FloatArray,
    head: FloatArray,
    row: FloatArray,
    entry: FloatArray,
    square: FloatArray,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    store: FloatArray,
    slot_of: FloatArray,
    held: FloatArray,
    used: FloatArray,
    diagonal: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    split: int,
    beta: FloatArray,
    gradient: FloatArray,
    limit: int,
    tolerance: float,
) -> tuple[int, float, bool, int]: ...
def perceptron_pass(rows: FloatArray, signs: FloatArray, weights: FloatArray) -> int: ...
def kernel_perceptron_pass(
    K: FloatArray,
    constant: float,
    signs: FloatArray,
    steps: FloatArray,
    values: FloatArray,
    counts: FloatArray,
) -> int: ...
def distance_block(
    kind: str,
    degree: int,
    factor: float,
    X: FloatArray,
    Z_transposed: FloatArray,
    out: FloatArray,
) -> None: ...
def gaussian_block(
    products: FloatArray, of_rows: FloatArray, of_columns: FloatArray, gamma: float
) -> None: ...
def kernel_sums(
    columns: FloatArray,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    weights: FloatArray,
    offsets: FloatArray,
    queries: FloatArray,
    out: FloatArray,
    threads: int,
) -> None: ...
def products_of_sparse_rows(
    data: FloatArray,
    columns: NDArray[Any],
    start: NDArray[Any],
    other_data: FloatArray,
    other_rows: NDArray[Any],
    other_start: NDArray[Any],
    out: FloatArray,
) -> None: ...

class NearCandidates64:
    def __init__(self, n_queries: int, k: int) -> None: ...

class NearCandidates32(NearCandidates64): ...

def near_products(
    products: FloatArray,
    low: FloatArray,
    query_low: FloatArray,
    slack: float,
    first: int,
    queries: FloatArray,
    rows: FloatArray,
    candidates: NearCandidates64,
    distance: FloatArray,
    row: FloatArray,
) -> None: ...
def within_products(
    products: FloatArray,
    low: FloatArray,
    query_low: FloatArray,
    queries: FloatArray,
    rows: FloatArray,
    radius: FloatArray,
    by_distance: bool,
    most: int,
) -> tuple[FloatArray, FloatArray, FloatArray]: ...
def measure_candidates(
    candidates: NearCandidates64,
    queries: FloatArray,
    rows: FloatArray,
    distance: FloatArray,
    row: FloatArray,
) -> None: ...
def smallest_per_row(
    given: FloatArray, distance: FloatArray, row: FloatArray, threads: int
) -> None: ...
def precision_direction(
    covariance: FloatArray,
    precision: FloatArray,
    inverse: FloatArray,
    alpha: float,
    tolerance: float,
    most_rounds: int,
    most_steps: int,
    direction: FloatArray,
) -> tuple[int, int, int]: ...
def rows_in_doubt(
    x: FloatArray,
    centres: FloatArray,
    half_gap: FloatArray,
    move: FloatArray,
    label: FloatArray,
    square: FloatArray,
    lower: FloatArray,
    doubtful: FloatArray,
) -> int: ...
def settle_directly(
    x: FloatArray,
    which: FloatArray,
    centres: FloatArray,
    label: FloatArray,
    square: FloatArray,
    lower: FloatArray,
) -> int: ...
def scaled_rows(
    x: FloatArray,
    which: FloatArray,
    middle: FloatArray,
    scale: float,
    slack: float,
    scaled: FloatArray,
    low: FloatArray,
) -> None: ...
def settle_by_products(
    products: FloatArray,
    centre_low: FloatArray,
    low: FloatArray,
    scale: float,
    x: FloatArray,
    which: FloatArray,
    centres: FloatArray,
    label: FloatArray,
    square: FloatArray,
    lower: FloatArray,
) -> int: ...
def shortest_paths(
    offsets: FloatArray,
    ends: FloatArray,
    lengths: FloatArray,
    first: int,
    out: FloatArray,
    threads: int,
) -> None: ...
def guttman_step(
    delta: FloatArray, z: FloatArray, moved: FloatArray, threads: int
) -> tuple[float, float]: ...
def squared_stress(
    delta: FloatArray, z: FloatArray, gradient: FloatArray, threads: int
) -> float: ...
def perplexity_weights(
    distance: FloatArray, perplexity: float, weight: FloatArray, threads: int
) -> None: ...
def student_forces(
    points: FloatArray,
    offset: FloatArray,
    near: FloatArray,
    weight: FloatArray,
    freedom: int,
    angle: float,
    exaggeration: float,
    gradient: FloatArray,
    threads: int,
) -> tuple[float, float]: ...
def isotonic(values: FloatArray, weights: FloatArray, out: FloatArray) -> None: ...
def cluster_sums(
    x: FloatArray,
    weight: FloatArray,
    label: FloatArray,
    square: FloatArray,
    centres: FloatArray,
    sums: FloatArray,
    total: FloatArray,
    count: FloatArray,
) -> float: ...
def potentials(
    x: FloatArray,
    weight: FloatArray,
    nearest: FloatArray,
    owner: FloatArray,
    candidates: FloatArray,
    reach: FloatArray,
    total: FloatArray,
) -> None: ...
def take_candidate(
    x: FloatArray,
    nearest: FloatArray,
    owner: FloatArray,
    candidates: FloatArray,
    reach: FloatArray,
    number: int,
) -> None: ...
def mixture_pass(
    x: FloatArray,
    weight: FloatArray,
    labels: FloatArray,
    given: FloatArray,
    log_scale: FloatArray,
    centres: FloatArray,
    factors: FloatArray,
    count: FloatArray,
    first: FloatArray,
    second: FloatArray,
    log_density: FloatArray,
    rows: FloatArray,
    posterior: bool,
) -> float: ...
def rectify(x: FloatArray, bias: FloatArray, leak: float) -> None: ...
def pull_rectified(x: FloatArray, slope: FloatArray, sums: FloatArray, leak: float) -> None: ...
def add_slopes(
    gradients: FloatArray, used: int, theta: FloatArray, penalised: int, l2: float
) -> None: ...
def softmax_losses(
    y: FloatArray, z: FloatArray, value: FloatArray, slope: FloatArray, threads: int
) -> None: ...
def adam_step(
    gradient: FloatArray,
    theta: FloatArray,
    first: FloatArray,
    second: FloatArray,
    rate: float,
    beta1: float,
    beta2: float,
    correction1: float,
    correction2: float,
    epsilon: float,
) -> None: ...

class LinkageChain:
    def __init__(self, triangle: FloatArray, n: int, linkage: int) -> None: ...
    def advance(self, count: int) -> int: ...
    def copy_merges(self, left: FloatArray, right: FloatArray, height: FloatArray) -> None: ...

class WardChain:
    def __init__(self, rows: FloatArray) -> None: ...
    def advance(self, count: int) -> int: ...
    def copy_merges(self, left: FloatArray, right: FloatArray, height: FloatArray) -> None: ...

class DensityClusters:
    def __init__(
        self,
        rows: FloatArray,
        weights: FloatArray,
        p: float,
        counts_differences: bool,
        radius: float,
        least: float,
        leaf_size: int,
        threads: int,
    ) -> None: ...
    def advance(self, count: int, threads: int) -> bool: ...
    def copy(self, labels: FloatArray, core: FloatArray) -> None: ...

def join_pairs(left: FloatArray, right: FloatArray, root: FloatArray) -> None: ...

class Division:
    def __init__(self, triangle: FloatArray, n: int) -> None: ...
    def advance(self, count: int) -> int: ...
    def copy_merges(self, left: FloatArray, right: FloatArray, height: FloatArray) -> None: ...

def spanning_tree_near(
    rows: FloatArray,
    p: float,
    core: FloatArray,
    left: FloatArray,
    right: FloatArray,
    length: FloatArray,
    threads: int,
) -> None: ...
def spanning_tree_all(
    rows: FloatArray,
    p: float,
    counts_differences: bool,
    core: FloatArray,
    left: FloatArray,
    right: FloatArray,
    length: FloatArray,
    threads: int,
) -> None: ...
def spanning_tree_given(
    triangle: FloatArray,
    core: FloatArray,
    left: FloatArray,
    right: FloatArray,
    length: FloatArray,
) -> None: ...
def graph_linkage(
    indptr: FloatArray,
    indices: FloatArray,
    heights: FloatArray,
    rows: FloatArray,
    linkage: int,
    children: FloatArray,
    height: FloatArray,
) -> int: ...
def number_merges(
    left: FloatArray,
    right: FloatArray,
    height: FloatArray,
    children: FloatArray,
    heights: FloatArray,
) -> None: ...
def triangle_distances(
    rows: FloatArray, p: float, counts_differences: bool, out: FloatArray, threads: int
) -> None: ...
def contrast_values(
    u: FloatArray, weight: FloatArray, kind: int, alpha: float, slopes: FloatArray
) -> None: ...
def divergence_ratios(
    rows: FloatArray,
    left: FloatArray,
    right: FloatArray,
    beta: float,
    floor: float,
    valued: bool,
    ratios: FloatArray,
    powers: FloatArray,
) -> float: ...
def multiply_factor(
    factor: FloatArray,
    numerator: FloatArray,
    denominator: FloatArray,
    l1: float,
    l2: float,
    power: float,
) -> None: ...
def divergence_weights(
    rows: FloatArray,
    right: FloatArray,
    beta: float,
    power: float,
    l1: float,
    l2: float,
    floor: float,
    most: int,
    tolerance: float,
    weights: FloatArray,
) -> None: ...
def sparse_divergence_weights(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    right: FloatArray,
    beta: float,
    power: float,
    l1: float,
    l2: float,
    floor: float,
    most: int,
    tolerance: float,
    weights: FloatArray,
) -> None: ...
def row_products(rows: FloatArray, factor: FloatArray, found: FloatArray) -> None: ...
def column_products(rows: FloatArray, factor: FloatArray, found: FloatArray) -> None: ...
def sparse_normal_product(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weight: FloatArray,
    vectors: FloatArray,
    shift: FloatArray,
    back: FloatArray,
    total: FloatArray,
) -> None: ...
def sparse_products(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    vectors: FloatArray,
    out: FloatArray,
) -> None: ...
def swept_products(
    x: FloatArray,
    right: FloatArray,
    gram: FloatArray,
    l1: float,
    order: NDArray[Any],
    sweeps: int,
    tolerance: float,
    left: FloatArray,
    back: FloatArray,
) -> float: ...
def dirichlet_weights(
    lambda_: FloatArray,
    totals: FloatArray,
    threads: int,
    weights: FloatArray,
    shift: FloatArray,
) -> None: ...
def topic_shares(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weights: FloatArray,
    shift: FloatArray,
    prior: float,
    steps: int,
    tolerance: float,
    threads: int,
    gamma: FloatArray,
    theta: FloatArray,
    ratio: FloatArray,
    log_likelihood: FloatArray,
) -> None: ...
def topic_counts(
    ratio: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    theta: FloatArray,
    weights: FloatArray,
    threads: int,
    counts: FloatArray,
) -> None: ...
def nonnegative_sweeps(
    gram: FloatArray,
    cross: FloatArray,
    order: NDArray[Any],
    sweeps: int,
    tolerance: float,
    rows: FloatArray,
) -> float: ...
def sparse_divergence(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    left: FloatArray,
    right: FloatArray,
    beta: float,
    floor: float,
    valued: bool,
    numerator: FloatArray,
) -> float: ...
