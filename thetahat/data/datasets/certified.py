"""Least-squares problems with certified solutions: Longley, Wampler 1-5, Filip.

The Statistical Reference Datasets of the National Institute of Standards and Technology (USA)
certify θ̂ = argmin Σ (y − xᵀθ)² and its standard errors s·√[(XᵀX)⁻¹]ⱼⱼ, s² = Σ residual² / (n − p),
to 15 digits. They measure the effect of rounding: κ(X) is about 5·10⁹ for Longley, 6·10⁶ for
Wampler and 2·10¹⁵ for Filip. The values below follow from the data in exact rational arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.datasets.dataset import FOLDER, Dataset, read_columns, stack
from thetahat.foundation.errors import ParameterError

_LONGLEY = """\
16 years of the economy of the USA, 1947-1962: employment from the price deflator, the gross
national product, the unemployed, the armed forces, the population and the year. The columns are
nearly collinear.

Source: J. W. Longley (1967), Journal of the American Statistical Association 62, 819-841; certified
by the NIST Statistical Reference Datasets (public domain)."""

_WAMPLER = """\
A polynomial of degree 5 at x = 0, 1, ..., 20, with noise that is orthogonal to all polynomials of
degree 5, so that the least-squares coefficients are those of the polynomial, exactly.

Source: R. H. Wampler (1970), Journal of the American Statistical Association 65, 549-565; certified
by the NIST Statistical Reference Datasets (public domain)."""

_FILIP = """\
82 points and a polynomial of degree 10: the powers of x between -8.8 and -3.1 are so nearly
dependent that double precision is barely sufficient.

Source: A. Filippelli; certified by the NIST Statistical Reference Datasets (public domain)."""

_LONGLEY_FIT = (
    (-3482258.63459582, 890420.383607373),
    (15.0618722713733, 84.9149257747669),
    (-0.0358191792925910, 0.0334910077722432),
    (-2.02022980381683, 0.488399681651699),
    (-1.03322686717359, 0.214274163161675),
    (-0.0511041056535807, 0.226073200069370),
    (1829.15146461355, 455.478499142212),
)
"""Estimate and standard error of the intercept, then of each column."""

_WAMPLER_ERRORS = (
    2152.32624678170,
    2363.55173469681,
    779.343524331583,
    101.475507550350,
    5.64566512170752,
    0.112324854679312,
)
"""Standard errors for the noise itself; they are proportional to it."""

_WAMPLER_NOISE = (
    *(759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048),
    *(-2048, 1838, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 759),
)
_WAMPLER_SCALE = {1: 0.0, 2: 0.0, 3: 1.0, 4: 100.0, 5: 10_000.0}

_FILIP_FIT = (
    (-1467.48961422980, 298.084530995537),
    (-2772.17959193342, 559.779865474950),
    (-2316.37108160893, 466.477572127796),
    (-1127.97394098372, 227.204274477751),
    (-354.478233703349, 71.6478660875927),
    (-75.1242017393757, 15.2897178747400),
    (-10.8753180355343, 2.23691159816033),
    (-1.06221498588947, 0.221624321934227),
    (-0.0670191154593408, 0.0142363763154724),
    (-0.00246781078275479, 0.000535617408889821),
    (-0.0000402962525080404, 0.00000896632837373868),
)


def load_longley() -> Dataset:
    """Load Longley's economic data with their certified least-squares fit.

    Formula: the certified θ̂ solves XᵀX θ = Xᵀy with a column of ones in X. Cost: O(n·d), n = 16,
    d = 6.

    Returns
    -------
    Dataset
        The rows, with the certified ``coef``, ``intercept``, ``standard_errors`` and
        ``residual_deviation``.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_longley()
    >>> data.intercept
    -3482258.63459582
    """
    path = FOLDER / "longley.csv"
    *features, target = columns = read_columns(path)
    theta, errors = np.array(_LONGLEY_FIT).T
    return Dataset(
        X=stack(columns, features),
        y=np.array(columns[target], dtype=np.float64),
        feature_names=tuple(features),
        target_name=target,
        description=_LONGLEY,
        path=path,
        intercept=float(theta[0]),
        coef=theta[1:],
        standard_errors=errors,
        residual_deviation=304.854073561965,
    )


def wampler(k: int = 1) -> Dataset:
    """Build Wampler's problem k: a polynomial of degree 5 on 0, 1, ..., 20.

    Formula: y = Σⱼ cʲ xʲ + δₖ·noise for j = 0..5, with c = 0.1 for k = 2 and 1 otherwise, and
    δₖ = 0, 0, 1, 100, 10⁴. The noise is orthogonal to 1, x, ..., x⁵, so θ̂ⱼ = cʲ exactly, and any
    difference is a rounding error of the solver. Cost: O(n·d), n = 21, d = 5.

    Parameters
    ----------
    k : {1, 2, 3, 4, 5}, default=1
        The number of the problem. 1 and 2 have no noise; 3, 4 and 5 have increasing noise.

    Returns
    -------
    Dataset
        The rows, where X holds x, x², ..., x⁵ and the intercept is the coefficient of 1.

    Examples
    --------
    >>> import thetahat as th
    >>> th.datasets.wampler(3).coef
    array([1., 1., 1., 1., 1.])
    """
    if k not in _WAMPLER_SCALE:
        raise ParameterError(f"wampler: k={k!r} must be 1, 2, 3, 4 or 5.")
    x = np.arange(21.0)
    exponents = np.arange(6)
    powers = x[:, np.newaxis] ** exponents
    # For k = 2, integers divided by 10⁵: one rounding, as if y had been read from a file.
    y = powers @ 10.0 ** exponents[::-1] / 1e5 if k == 2 else powers.sum(axis=1)
    theta = 1.0 / 10.0**exponents if k == 2 else np.ones(6)
    scale = _WAMPLER_SCALE[k]
    return _polynomial(
        x,
        y + scale * np.array(_WAMPLER_NOISE),
        theta,
        scale * np.array(_WAMPLER_ERRORS),
        description=f"Problem {k} of Wampler. {_WAMPLER}",
        residual_deviation=scale * 2360.14502379268,
    )


def filip() -> Dataset:
    """Load Filippelli's data: a polynomial of degree 10, the hardest of the certified fits.

    Formula: y = Σⱼ θⱼ xʲ for j = 0..10. X holds the powers rounded to double precision; with
    κ(X) ≈ 2·10¹⁵ this rounding alone leaves between 7 and 8 correct digits.
    Cost: O(n·d), n = 82, d = 10.

    Returns
    -------
    Dataset
        The rows, where X holds x, x², ..., x¹⁰; ``path`` is the CSV file of x and y.

    Examples
    --------
    >>> import thetahat as th
    >>> th.datasets.filip().X.shape
    (82, 10)
    """
    path = FOLDER / "filip.csv"
    columns = read_columns(path)
    theta, errors = np.array(_FILIP_FIT).T
    return _polynomial(
        np.array(columns["x"], dtype=np.float64),
        np.array(columns["y"], dtype=np.float64),
        theta,
        errors,
        description=_FILIP,
        residual_deviation=0.00334801051324544,
        path=path,
    )


def _polynomial(
    x: NDArray[Any], y: NDArray[Any], theta: NDArray[Any], errors: NDArray[Any], **about: Any
) -> Dataset:
    exponents = np.arange(1, theta.size)
    return Dataset(
        X=x[:, np.newaxis] ** exponents,
        y=y,
        feature_names=("x", *(f"x^{power}" for power in exponents[1:])),
        target_name="y",
        intercept=float(theta[0]),
        coef=theta[1:],
        standard_errors=errors,
        **about,
    )
