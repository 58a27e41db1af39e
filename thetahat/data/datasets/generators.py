"""Random data with known parameters: y = f_θ(x) + noise, or P(y = 1 | x) = σ(f_θ(x))."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.datasets.dataset import Dataset
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator


def make_linear(
    n_rows: int = 100,
    n_features: int = 5,
    *,
    noise: float = 1.0,
    correlation: float = 0.0,
    condition: float | None = None,
    random_state: RandomState = None,
) -> Dataset:
    """Generate rows of a linear model, y = Xθ + b + noise·ε with ε ~ N(0, 1).

    The columns of X have mean 0, variance 1 and correlation ρ with each other. With ``condition``
    the singular values of the centred X are replaced by a geometric sequence whose largest is κ
    times its smallest. θ and b are drawn from N(0, 1). Cost: O(n·d), with ``condition`` O(n·d²).

    Parameters
    ----------
    n_rows : int, default=100
        The number of rows to generate.
    n_features : int, default=5
        The number of columns of X.
    noise : float, default=1.0
        Standard deviation of the noise. Must be ≥ 0.
    correlation : float in [0, 1), default=0.0
        The correlation between any two columns (ρ).
    condition : float, optional
        The condition number of the centred X (κ), at least 1. Needs n_rows > n_features.
    random_state : int, Generator or None
        Seed or generator for the rows. The same seed gives the same rows.

    Returns
    -------
    Dataset
        The rows, with the true ``coef`` and ``intercept``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(50, 3, noise=0.0, condition=1e4, random_state=0)
    >>> bool(np.allclose(data.y, data.X @ data.coef + data.intercept))
    True
    >>> round(float(np.linalg.cond(data.X - data.X.mean(axis=0))))
    10000
    """
    _require_shape(n_rows, n_features)
    _require("noise", noise, noise >= 0, "a standard deviation, at least 0")
    _require("correlation", correlation, 0 <= correlation < 1, "in [0, 1)")
    rng = generator(random_state)
    common = rng.standard_normal((n_rows, 1))
    own = rng.standard_normal((n_rows, n_features))
    X = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own
    if condition is not None:
        _require("condition", condition, 1 <= condition < math.inf, "at least 1")
        _require("n_rows", n_rows, n_rows > n_features, "more than n_features to set a condition")
        X = _with_condition(X, condition)
    coef, intercept = rng.standard_normal(n_features), float(rng.standard_normal())
    y = X @ coef + intercept + noise * rng.standard_normal(n_rows)
    return _dataset(X, y, coef, intercept, f"y = Xθ + b + N(0, {noise}²)")


@described_like(make_linear)
def make_classification_linear(
    n_rows: int = 100,
    n_features: int = 2,
    *,
    margin: float | None = None,
    scale: float = 3.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate two classes with a linear boundary, with or without a margin around it.

    Formula: P(y = 1 | x) = σ(xᵀθ + b), where x ~ N(0, I) and ‖θ‖ = ``scale``. With ``margin`` the
    labels are y = 1[xᵀθ + b > 0], and each row is moved along θ away from the boundary by the
    margin, so that |xᵀθ + b| / ‖θ‖ ≥ margin: the classes are separable. Cost: O(n·d).

    Parameters
    ----------
    n_features : int, default=2
        The number of columns of X.
    margin : float, optional
        The smallest distance of a row from the boundary. By default labels are drawn at random,
        and the classes overlap.
    scale : float, default=3.0
        The norm of the coefficients (‖θ‖). Larger values give fewer labels on the wrong side of
        the boundary.

    Returns
    -------
    Dataset
        The rows with labels 0 and 1, and the true ``coef`` and ``intercept``.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_classification_linear(200, margin=0.1, random_state=0)
    >>> bool((((data.X @ data.coef + data.intercept) > 0) == data.y).all())
    True
    """
    _require_shape(n_rows, n_features)
    _require("scale", scale, 0 < scale < math.inf, "positive")
    rng = generator(random_state)
    direction = rng.standard_normal(n_features)
    direction /= np.linalg.norm(direction)
    intercept = float(scale * rng.uniform(-0.5, 0.5))
    X = rng.standard_normal((n_rows, n_features))
    score = scale * (X @ direction) + intercept
    if margin is None:
        y = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-score))
    else:
        _require("margin", margin, 0 <= margin < math.inf, "at least 0")
        y = score > 0
        X += np.outer(np.where(y, margin, -margin), direction)
    rule = "P(y = 1 | x) = σ(xᵀθ + b)" if margin is None else "y = 1[xᵀθ + b > 0]"
    return _dataset(X, y.astype(np.int64), scale * direction, intercept, rule)


def make_circle(
    n_rows: int = 100,
    *,
    centre: tuple[float, float] = (1.0, -3.0),
    radius: float = 2.0,
    arc: float = 2 * math.pi,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate points on a circle, with noise in both coordinates.

    Formula: ‖x − c‖ = r is equivalent to ‖x‖² = 2cᵀx + (r² − ‖c‖²), which is linear in x. So with
    y = ‖x‖², θ = 2c and b = r² − ‖c‖², a linear fit finds the circle. Cost: O(n).

    Parameters
    ----------
    n_rows : int, default=100
        The number of points to generate.
    centre : (float, float), default=(1.0, -3.0)
        The centre of the circle (c).
    radius : float, default=2.0
        The radius of the circle (r).
    arc : float in (0, 2π], default=2π
        The angle that the points cover. A short arc makes the fit difficult.
    noise : float, default=0.0
        Standard deviation of the noise of each coordinate. Must be ≥ 0.
    random_state : int, Generator or None
        Seed or generator for the points. The same seed gives the same points.

    Returns
    -------
    Dataset
        The points as X and their squared norms as y, with the true ``coef`` and ``intercept``.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_circle(20, random_state=0)
    >>> data.coef, data.intercept
    (array([ 2., -6.]), -6.0)
    """
    _require("n_rows", n_rows, n_rows >= 1, "at least 1")
    _require("radius", radius, 0 < radius < math.inf, "positive")
    _require("arc", arc, 0 < arc <= 2 * math.pi, "in (0, 2π]")
    _require("noise", noise, noise >= 0, "a standard deviation, at least 0")
    rng = generator(random_state)
    angle = rng.uniform(0, arc, n_rows)
    c = np.asarray(centre, dtype=np.float64)
    X = c + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    X += noise * rng.standard_normal(X.shape)
    y = (X**2).sum(axis=1)
    return _dataset(X, y, 2 * c, float(radius**2 - c @ c), "‖x‖² = 2cᵀx + r² − ‖c‖²")


@described_like(make_circle)
def make_polynomial(
    n_rows: int = 100,
    coefficients: tuple[float, ...] = (1.0, -2.0, 0.0, 1.0),
    *,
    interval: tuple[float, float] = (-2.0, 2.0),
    noise: float = 0.1,
    random_state: RandomState = None,
) -> Dataset:
    """Generate points on a polynomial with noise, with x uniform in an interval.

    Formula: y = Σⱼ θⱼ xʲ + noise·ε, with ε ~ N(0, 1). X holds the powers x, x², ..., so that a
    linear fit finds θ. Cost: O(n·degree).

    Parameters
    ----------
    coefficients : tuple of float, default=(1.0, -2.0, 0.0, 1.0)
        The coefficients θ₀, θ₁, ... of the polynomial, the constant first. At least two.
    interval : (float, float), default=(-2.0, 2.0)
        The smallest and the largest value of x.
    noise : float, default=0.1
        Standard deviation of the noise. Must be ≥ 0.

    Returns
    -------
    Dataset
        The points, with the true ``coef`` (θ₁, ...) and ``intercept`` (θ₀).

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_polynomial(10, (1.0, 0.5), noise=0.0, random_state=0)
    >>> bool((data.y == 1.0 + 0.5 * data.X[:, 0]).all())
    True
    """
    _require("n_rows", n_rows, n_rows >= 1, "at least 1")
    _require("coefficients", coefficients, len(coefficients) >= 2, "at least two numbers")
    _require("interval", interval, interval[0] < interval[1], "(low, high) with low < high")
    _require("noise", noise, noise >= 0, "a standard deviation, at least 0")
    rng = generator(random_state)
    theta = np.asarray(coefficients, dtype=np.float64)
    X = rng.uniform(*interval, size=(n_rows, 1)) ** np.arange(1, theta.size)
    y = theta[0] + X @ theta[1:] + noise * rng.standard_normal(n_rows)
    return _dataset(X, y, theta[1:], float(theta[0]), f"y = Σⱼ θⱼ xʲ + N(0, {noise}²)")


def _with_condition(X: NDArray[np.float64], condition: float) -> NDArray[np.float64]:
    """X with mean 0, singular values √n·(1, ..., 1/κ), and its own singular vectors."""
    left, _, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    values = math.sqrt(X.shape[0]) * np.geomspace(1, 1 / condition, X.shape[1])
    adjusted: NDArray[np.float64] = (left * values) @ right
    return adjusted


def _dataset(
    X: NDArray[Any], y: NDArray[Any], coef: NDArray[Any], intercept: float, rule: str
) -> Dataset:
    return Dataset(
        X=X,
        y=y,
        feature_names=tuple(f"x{column}" for column in range(X.shape[1])),
        target_name="y",
        description=f"Random rows of {rule}.",
        coef=coef,
        intercept=intercept,
    )


def _require_shape(n_rows: int, n_features: int) -> None:
    _require("n_rows", n_rows, n_rows >= 1, "at least 1")
    _require("n_features", n_features, n_features >= 1, "at least 1")


def _require(name: str, value: object, holds: bool, rule: str) -> None:
    if not holds:
        raise ParameterError(f"{name}={value!r} must be {rule}.")
