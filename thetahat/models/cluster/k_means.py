"""k-means: centres with the least sum of squared distances, L(μ, z) = Σ wᵢ‖xᵢ − μ_{zᵢ}‖²."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.devices.routing import on_devices
from thetahat.estimator.parameters import Range, boolean, one_of, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.cluster import k_means_on_device
from thetahat.models.cluster.lloyd import Partition, Rows
from thetahat.models.cluster.restarts import RestartedCentres


@on_devices(
    "cluster_centers_",
    "labels_",
    fit=k_means_on_device.fit,
    predict=k_means_on_device.predict,
    transform=k_means_on_device.transform,
    score=k_means_on_device.score,
)
@with_parameters
class KMeans(RestartedCentres):
    """k-means clustering: k centres with the least sum of squared distances to the rows.

    Each step assigns every row to its nearest centre and moves every centre to the mean of its
    rows. Both lower the loss, so that it falls until no row changes its cluster. The result is a
    local minimum, which depends on the start; several starts are compared, and the best is kept.

    Formula: L(μ, z) = Σᵢ wᵢ‖xᵢ − μ_{zᵢ}‖², minimised in turns over zᵢ = argmin_k ‖xᵢ − μ_k‖² and
    μ_k = Σ_{zᵢ=k} wᵢxᵢ / Σ_{zᵢ=k} wᵢ. If a cluster becomes empty, its centre moves to the row
    farthest from its own centre.

    Cost: at most O(n k d) time per step, and less as the centres settle, because bounds of the
    distances rule out most searches; O(n + k d) memory beside the rows, which may be in memory,
    sparse, memory-mapped or in a file. Results do not depend on the number of threads.

    Parameters
    ----------
    verbose : int, default=0
        Whether to print the loss of each iteration. 0 prints nothing.
    copy_x : bool, default=True
        Has no effect, because rows are never overwritten. Accepted for compatibility with
        scikit-learn.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Has no effect, because bounds of the distances are always used and do not change the result.
        Accepted for compatibility with scikit-learn.

    Attributes
    ----------
    inertia_ : float
        The loss: the weighted sum of the squared distances of the rows from their centres.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.KMeans(2, random_state=0).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> sorted(model.cluster_centers_.ravel().round(3).tolist()), round(model.inertia_, 4)
    ([1.333, 7.0], 4.6667)
    """

    _prints_itself = True

    _: KW_ONLY
    verbose: int = 0
    copy_x: bool = True
    algorithm: str = "lloyd"

    _ranges: ClassVar[dict[str, Range]] = RestartedCentres._ranges | {
        "verbose": whole(0) | boolean,
        "copy_x": boolean,
        "algorithm": one_of("lloyd", "elkan"),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Find the centres. Cost: at most O(n k d) per iteration and start; see `KMeans`."""
        self._fit_from_starts(X, y, sample_weight)
        self._keep_loss(len(np.unique(self.labels_)))
        return self

    def _keep_loss(self, found: int) -> None:
        """Keep the loss; warn if fewer clusters were found than requested."""
        self.inertia_ = self.solution_.value
        if found < self.n_clusters:
            warn(
                f"{type(self).__name__}: Number of distinct clusters ({found}) found smaller than "
                f"n_clusters ({self.n_clusters}). Possibly due to duplicate points in X. Use fewer "
                "clusters.",
                ConvergenceWarning,
            )

    def _problem(self, rows: Rows) -> Partition:
        return rows.partition()

    def _report(self, solution: Solution) -> None:
        """Print the loss of each iteration of a start."""
        if not self.verbose:
            return
        print("Initialization complete")
        for step, loss in enumerate(solution.trace):
            print(f"Iteration {step}, inertia {loss}.")
        if solution.outcome.success:
            how = "strict convergence"
            if solution.gap > 0.0:
                how = f"center shift {solution.gap} within tolerance"
            print(f"Converged at iteration {solution.steps}: {how}.")
