"""Rotations of the plane."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


def rotation_matrix(angle: float, *, clockwise: bool = False) -> Array:
    """The 2 × 2 matrix that turns vectors of the plane about the origin.

    Formula: R(φ) = [[cos φ, −sin φ], [sin φ, cos φ]] turns counterclockwise; R(φ)ᵀ = R(−φ) = R(φ)⁻¹
    turns clockwise, or gives the coordinates of a vector in axes that were turned counterclockwise.

    Cost: O(1).

    Parameters
    ----------
    angle : float
        φ in radians.
    clockwise : bool, default=False
        The sense.

    Returns
    -------
    array of shape (2, 2)

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> (th.linalg.rotation_matrix(np.pi / 2) @ [1.0, 0.0]).round(12).tolist()
    [0.0, 1.0]
    """
    if not np.isfinite(angle):
        raise ParameterError(f"rotation_matrix: angle={angle!r} must be a finite number.")
    cosine, sine = np.cos(angle), np.sin(angle)
    counterclockwise = np.array([[cosine, -sine], [sine, cosine]])
    return counterclockwise.T if clockwise else counterclockwise
