"""Bounds for the hyper-parameters of a kernel, and hyper-parameters that are not fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Composed, Kernel, Pullback
from thetahat.mathematics.kernels.hyperparameters import Hyperparameter, checked_bounds


@dataclass(frozen=True)
class Bounded(Composed):
    """A kernel with limits for the hyper-parameters that a Gaussian process fits.

    Formula: k(x, z) as before; the fit maximises the marginal likelihood over low ≤ h ≤ high for
    every hyper-parameter h that is not "fixed". Without this class, the limits are 1e-5 and 1e5.
    Estimators other than Gaussian processes ignore them. Cost: that of the kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose hyper-parameters are to be bounded.
    limits : dict or "fixed", default="fixed"
        For the name of each hyper-parameter a pair (low, high), one such pair for each column, or
        "fixed", which keeps its value. Names of parts are written as in ``get_params``, such as
        "first__length_scale". "fixed" instead of a dict keeps all values.

    Examples
    --------
    >>> import thetahat as th
    >>> kernel = th.kernels.Bounded(th.kernels.RBF(sigma=1.0), {"sigma": (0.1, 10.0)})
    >>> kernel.bounds.round(2).tolist()
    [[-2.3, 2.3]]
    >>> th.kernels.Bounded(th.kernels.RBF()).theta.tolist()
    []
    """

    kernel: Kernel
    limits: Any = "fixed"

    name = "bounded"

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ParameterError(
                f"Bounded(kernel={self.kernel!r}): kernel must be a value such as th.kernels.RBF()."
            )
        known = {each.name: each for each in self.kernel.hyperparameters}
        limits = dict.fromkeys(known, "fixed") if self.limits == "fixed" else self.limits
        pairs = limits.items() if isinstance(limits, Mapping) else limits
        found = []
        for name, limit in pairs:
            if name not in known:
                raise ParameterError(
                    f"Bounded: {self.kernel!r} has no hyper-parameter {name!r}; it has "
                    f"{', '.join(known) or 'none'}."
                )
            found.append((name, checked_bounds(limit, known[name], "Bounded")))
        object.__setattr__(self, "limits", tuple(found))

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Those of the kernel, with these limits."""
        limits = dict(self.limits)
        return tuple(
            replace(each, name=f"kernel__{each.name}", bounds=limits.get(each.name, each.bounds))
            for each in self.kernel.hyperparameters
        )

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """The values of the kernel."""
        return self.kernel.block(X, Z)

    def diagonal(self, X: Matrix) -> Array:
        """The values of the kernel."""
        return self.kernel.diagonal(X)

    @property
    def reach(self) -> float:
        """That of the kernel."""
        return self.kernel.reach

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """The values of the kernel."""
        return self.kernel.paired(X, Z)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivatives of the kernel."""
        return self.kernel.linearised(X, Z, same)
