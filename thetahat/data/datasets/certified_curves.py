"""Non-linear regressions with certified solutions: 17 problems of the NIST reference datasets.

The Statistical Reference Datasets of the National Institute of Standards and Technology (USA) give
rows, a model f(x; θ), two starting points (the first far away, the second nearer) and, to 11
digits, θ̂ = argmin Σ(y − f(x; θ))² with its standard errors. They test solvers on difficult
problems: curved valleys (MGH10, MGH17), flat starting points (BoxBOD, Eckerle4), and parameters
that nearly cancel (Lanczos3, Thurber, MGH09).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.datasets.dataset import FOLDER, read_columns
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

Model = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedCurve:
    """A non-linear regression problem: rows, a curve f(x; θ), starting points and certified fit.

    Formula: ``theta`` = argmin Σ(y − f(x; θ))² and ``standard_errors`` = σ̂√[(JᵀJ)⁻¹]ⱼⱼ to 11
    digits. Cost: O(n) memory.

    Attributes
    ----------
    name : str
        The name of the problem.
    X, y : ndarrays of shape (n, 1) and (n,)
        The rows and their targets.
    model : callable
        The curve, as a function ``model(X, theta)``.
    starts : ndarray of shape (2, p)
        Two starting points: one far from the solution, one nearer.
    theta, standard_errors : ndarrays of shape (p,)
        The certified parameters and their standard errors.
    residual_deviation : float
        The certified residual standard deviation, σ̂ = √(Σ residual² / (n − p)).

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_nonlinear("MGH09")
    >>> data
    CertifiedCurve 'MGH09': 11 rows, 4 parameters
    >>> data.starts[0].tolist()
    [25.0, 39.0, 41.5, 39.0]
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    model: Model
    starts: NDArray[Any]
    theta: NDArray[Any]
    standard_errors: NDArray[Any]
    residual_deviation: float

    def __repr__(self) -> str:
        return f"CertifiedCurve {self.name!r}: {len(self.y)} rows, {len(self.theta)} parameters"


def load_nonlinear(name: str = "Misra1a") -> CertifiedCurve:
    """Load a non-linear regression whose least-squares fit is certified to 11 digits.

    Formula: θ̂ = argmin Σ(y − f(x; θ))². Cost: O(n), n ≤ 250.

    Parameters
    ----------
    name : str, default="Misra1a"
        The name of the problem: "Misra1a" to "Misra1d", "Chwirut2", "DanWood", "Lanczos3",
        "Gauss1", "Kirby2", "MGH09", "MGH10", "MGH17", "Thurber", "BoxBOD", "Rat42", "Rat43" or
        "Eckerle4".

    Returns
    -------
    CertifiedCurve

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_nonlinear("BoxBOD")
    >>> curve = th.NonlinearRegression(data.model, start=data.starts[0]).fit(data.X, data.y)
    >>> curve.theta_.round(6)
    array([213.809409,   0.547237])
    """
    if name not in CURVES:
        close = get_close_matches(str(name), CURVES, n=1)
        raise ParameterError(
            f"load_nonlinear: there is no problem {name!r}."
            + (f" Did you mean {close[0]!r}?" if close else "")
            + f" The problems are {', '.join(CURVES)}."
        )
    model, deviation = CURVES[name]
    # The four models of Misra use the same rows.
    rows = _of("nonlinear_rows.csv", "Misra1a" if name.startswith("Misra1") else name)
    parameters = _of("nonlinear_parameters.csv", name)
    return CertifiedCurve(
        name=name,
        X=rows["x"][:, np.newaxis],
        y=rows["y"],
        model=model,
        starts=np.stack([parameters["start1"], parameters["start2"]]),
        theta=parameters["estimate"],
        standard_errors=parameters["standard_error"],
        residual_deviation=deviation,
    )


def _of(file: str, name: str) -> dict[str, NDArray[Any]]:
    """The numbers of one problem, by column, from a file with all problems."""
    columns = read_columns(FOLDER / file)
    mine = [place for place, problem in enumerate(columns["problem"]) if problem == name]
    return {
        column: np.array([float(values[place]) for place in mine])
        for column, values in columns.items()
        if column not in ("problem", "parameter")
    }


def _saturation(X: Array, b: Array) -> Array:
    return b[0] * (1 - np.exp(-b[1] * X[:, 0]))


def _square_root(X: Array, b: Array) -> Array:
    return b[0] * (1 - (1 + b[1] * X[:, 0] / 2) ** -2)


def _root(X: Array, b: Array) -> Array:
    return b[0] * (1 - (1 + 2 * b[1] * X[:, 0]) ** -0.5)


def _hyperbola(X: Array, b: Array) -> Array:
    return b[0] * b[1] * X[:, 0] / (1 + b[1] * X[:, 0])


def _damped_hyperbola(X: Array, b: Array) -> Array:
    return np.exp(-b[0] * X[:, 0]) / (b[1] + b[2] * X[:, 0])


def _power(X: Array, b: Array) -> Array:
    return b[0] * X[:, 0] ** b[1]


def _three_decays(X: Array, b: Array) -> Array:
    x = X[:, 0]
    return b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x)


def _two_bells(X: Array, b: Array) -> Array:
    x = X[:, 0]
    first = b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2)
    second = b[5] * np.exp(-((x - b[6]) ** 2) / b[7] ** 2)
    return b[0] * np.exp(-b[1] * x) + first + second


def _quadratic_ratio(X: Array, b: Array) -> Array:
    x = X[:, 0]
    return (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2)


def _monic_ratio(X: Array, b: Array) -> Array:
    x = X[:, 0]
    return b[0] * (x**2 + b[1] * x) / (x**2 + b[2] * x + b[3])


def _reaction(X: Array, b: Array) -> Array:
    return b[0] * np.exp(b[1] / (X[:, 0] + b[2]))


def _two_decays(X: Array, b: Array) -> Array:
    return b[0] + b[1] * np.exp(-X[:, 0] * b[3]) + b[2] * np.exp(-X[:, 0] * b[4])


def _cubic_ratio(X: Array, b: Array) -> Array:
    x = X[:, 0]
    above = b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3
    return above / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def _logistic_growth(X: Array, b: Array) -> Array:
    return b[0] / (1 + np.exp(b[1] - b[2] * X[:, 0]))


def _skewed_growth(X: Array, b: Array) -> Array:
    return b[0] / (1 + np.exp(b[1] - b[2] * X[:, 0])) ** (1 / b[3])


def _bell(X: Array, b: Array) -> Array:
    return b[0] / b[1] * np.exp(-0.5 * ((X[:, 0] - b[2]) / b[1]) ** 2)


CURVES: dict[str, tuple[Model, float]] = {
    "Misra1a": (_saturation, 1.0187876330e-01),
    "Misra1b": (_square_root, 7.9301471998e-02),
    "Misra1c": (_root, 5.8428615257e-02),
    "Misra1d": (_hyperbola, 6.8568272111e-02),
    "Chwirut2": (_damped_hyperbola, 3.1717133040e00),
    "DanWood": (_power, 3.2853114039e-02),
    "Lanczos3": (_three_decays, 2.9923229172e-05),
    "Gauss1": (_two_bells, 2.3317980180e00),
    "Kirby2": (_quadratic_ratio, 1.6354535131e-01),
    "MGH09": (_monic_ratio, 6.6279236551e-03),
    "MGH10": (_reaction, 2.6009740065e00),
    "MGH17": (_two_decays, 1.3970497866e-03),
    "Thurber": (_cubic_ratio, 1.3714600784e01),
    "BoxBOD": (_saturation, 1.7088072423e01),
    "Rat42": (_logistic_growth, 1.1587725499e00),
    "Rat43": (_skewed_growth, 2.8262414662e01),
    "Eckerle4": (_bell, 6.7629245447e-03),
}
"""For each problem, its model and its certified residual deviation."""
