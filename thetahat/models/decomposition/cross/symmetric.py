"""Components of X and y that treat both alike, each with scores of its own."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.caller_warning import warn
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Frame
from thetahat.models.decomposition.cross.two_blocks import TwoBlocks


@with_parameters
class Symmetric(TwoBlocks):
    """A fit that finds at most as many components as X and y have columns.

    Parameters
    ----------
    n_components : int, default=2
        Number of pairs of components (k). Later pairs are related less closely. At most
        min(n, d, n_targets).
    """

    @classmethod
    def _example(cls) -> Self:
        return cls(n_components=1)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of X and y. Cost: see the class.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. A `Source` (see ``th.scan``) is read block by block and contains the
            target.
        y : array-like of shape (n,) or (n, n_targets), optional
            The second table, with the same rows. Leave it out if X is a `Source`.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        most = min(source.n_rows, source.n_features, max(source.n_outputs, 1))
        rule = "min(n_samples, n_features, n_targets)"
        self._require_components(self.n_components, source, most, rule)
        frame, found = self._components(source)
        self._keep(frame, found, source)
        if not found.converged:
            warn(
                f"{type(self).__name__}: Maximum number of iterations reached: the power "
                f"iterations of a component did not reach tol={self.tol:g} in {self.max_iter}. "
                "Raise max_iter, or use algorithm='svd'.",
                ConvergenceWarning,
            )
        return self

    @abstractmethod
    def _components(self, source: Source) -> tuple[Frame, Components]:
        """The components of the rows, and the frame of centred and scaled columns."""
