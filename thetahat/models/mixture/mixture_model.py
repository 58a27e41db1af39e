"""Parameters and checks that all fitted Gaussian mixtures share."""

from __future__ import annotations

from abc import ABC
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.source import Source, rows_per_block
from thetahat.data.summaries.means import count_used_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import blocks_in_flight
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.mixture.components import KINDS
from thetahat.models.mixture.mixture_density import MixtureDensity


@with_parameters
class MixtureModel(Watched, MixtureDensity, ABC):
    """A Gaussian mixture that is fitted by iterations from several starts.

    Parameters
    ----------
    n_components : int, default=1
        Number of components (k). More components fit the training rows better and need more rows.
        Compare numbers with `bic`, `aic` or the score of held-out rows. Must be at least 1.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the covariances. "full" gives every component its own matrix, "tied" one matrix
        to all, "diag" a variance per column and component, and "spherical" one variance per
        component. Fewer parameters need fewer rows.
    tol : float, default=1e-3
        Iterations stop when the lower bound changes by less than this tolerance. Smaller values
        give more accurate results and need more iterations. Must be at least 0.
    reg_covar : float, default=1e-6
        Number that is added to the variances, so that components with few or equal rows keep a
        positive variance. Increase it if components collapse. Must be at least 0.
    max_iter : int, default=100
        Maximum number of iterations of each start. 0 keeps the starting values.
    n_init : int, default=1
        Number of starts. The one with the largest lower bound is kept. More starts take longer
        and are more likely to find the best maximum. Must be at least 1.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How the starting values are found. "kmeans" starts from the clusters of k-means,
        "k-means++" from rows that are far from each other, "random_from_data" from rows drawn
        uniformly, and "random" from random responsibilities.
    random_state : int, Generator or None, default=None
        Seed of the starting values and of `sample`. Pass an int for the same result on every call.
    warm_start : bool, default=False
        Whether `fit` starts from the components of the last fit instead of new starting values.
    verbose : int, default=0
        Whether to print the progress. 1 prints each start and the number of the iteration, 2 also
        the change of the lower bound and the time.
    verbose_interval : int, default=10
        Number of iterations between two printed lines. Must be at least 1.

    Attributes
    ----------
    precisions_ : array
        The inverses of the covariances, in the same shape.
    precisions_cholesky_ : array
        Upper triangular factors P of the precisions, Σ⁻¹ = PPᵀ, or the inverse standard
        deviations, in the same shape.
    converged_ : bool
        Whether the best start reached the tolerance.
    n_iter_ : int
        The number of iterations of the best start.
    """

    n_components: int = 1
    _: KW_ONLY
    covariance_type: str = "full"
    tol: float = 1e-3
    reg_covar: float = 1e-6
    max_iter: int = 100
    n_init: int = 1
    init_params: str = "kmeans"
    random_state: Any = None
    warm_start: bool = False
    verbose: int = 0
    verbose_interval: int = 10

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1),
        "covariance_type": one_of(*KINDS),
        "tol": at_least(0),
        "reg_covar": at_least(0, 1e300),
        "max_iter": whole(0),
        "n_init": whole(1),
        "init_params": one_of("kmeans", "k-means++", "random", "random_from_data"),
        "warm_start": boolean,
        "verbose": boolean | whole(0),
        "verbose_interval": whole(1),
    }
    _streams = True
    _parametric = True
    _draws_rows = True

    def _require_rows(self, source: Source) -> None:
        n, who = count_used_rows(source), type(self).__name__
        used = "" if n == source.n_rows else " of positive weight"
        if n < 2:
            raise DataError(
                f"{who}: X has n_samples = {n}, 1 sample{used}, but a minimum of 2 is required. "
                "Add rows."
            )
        if n < self.n_components:
            raise DataError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {n}{used}. Use fewer components or more rows."
            )
        if self.covariance_type in ("full", "tied"):
            # Covariances, factors, their inverses, and the sums of the blocks in flight.
            k, d = self.n_components, source.n_features
            blocks = min(blocks_in_flight(), -(-n // rows_per_block(d)))
            require_memory(
                8 * k * d * d * (4 + 2 * blocks),
                f"{who}: {k} covariance matrices of {d} columns",
                "Use covariance_type='diag', or fewer columns or components.",
            )
        require_squares_of_rows(source, who=who)

    def _warn_of_tolerance(self, converged: bool, outcome: Outcome) -> None:
        if not converged and self.max_iter > 0:
            more = ", or th.config(max_time=...)" if outcome is Outcome.OUT_OF_TIME else ""
            warn(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data. "
                f"{type(self).__name__}: max_iter={self.max_iter}, tol={self.tol:g}{more}.",
                ConvergenceWarning,
            )
