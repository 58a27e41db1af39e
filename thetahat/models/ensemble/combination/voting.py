"""Parts shared by the voting estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.parameters import check_ranges
from thetahat.estimator.watching import keep_so_far
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.named_members import NamedMembers


class Voting(TransformerMixin, NamedMembers):
    """Members with weights α: f = Σ αₘfₘ / Σ αₘ.

    Parameters
    ----------
    weights : array-like of shape (n_members,) or None, default=None
        Non-negative weights of the members (α). None weights all members equally.
    verbose : bool, default=False
        If True, prints the name of each fitted member and the seconds of its fit.
    """

    weights: Any

    def _fit_members(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        check_ranges(self)
        active = self._active()
        share = self._shares()
        X, n_rows = self._require_rows(X, y)
        targets = self._targets(y, n_rows)
        weight = self._weights(sample_weight, n_rows)
        given = self._params_of_members(active, weight, params)
        self._remember_columns(X)
        members: list[Any] = []

        def attributes() -> dict[str, Any]:
            names = [name for name, _ in active[: len(members)]]
            shares = None if share is None else np.array([share[name] for name in names])
            return {"estimators_": members, "_fitted_names": names, "_share": shares}

        try:
            self._fit_named(active, given, X, targets, members)
        except KeyboardInterrupt as interrupt:
            if members:
                keep_so_far(self, interrupt, **attributes())
            raise
        found = attributes()
        self._require_votes(found["_share"])
        self.__dict__.update(found)  # at once: fits in several threads must not mix two models

    def _shares(self) -> dict[str, float] | None:
        """Weight of each member, by name."""
        if self.weights is None:
            return None
        weights = numbers(self.weights, "weights", type(self).__name__)
        names = [name for name, _ in self.estimators]
        who = type(self).__name__
        if weights.shape != (len(names),):
            raise ParameterError(
                f"{who}: Number of `estimators` and weights must be equal; got {weights.size} "
                f"weights, {len(names)} estimators."
            )
        if not (np.isfinite(weights) & (weights >= 0)).all():
            place = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
            raise ParameterError(
                f"{who}: weights must be finite and ≥ 0; got weights[{place}]={weights[place]:g}, "
                f"that of {names[place]!r}."
            )
        return dict(zip(names, weights.tolist(), strict=True))

    def _require_votes(self, shares: Array | None) -> None:
        if shares is not None and not shares.any():
            raise ParameterError(
                f"{type(self).__name__}: the weights of all members in use are 0. At least one "
                "weight must be positive."
            )

    def _each(self, X: Any, method: str) -> list[Array]:
        """Output of each member, in order."""
        check_is_fitted(self)
        X = self._same_columns(X)
        return [np.asarray(getattr(member, method)(X)) for member in self.estimators_]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`. Cost: O(columns).

        Parameters
        ----------
        input_features : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of str
            Names made of the class name and the names of the members.
        """
        return np.asarray(self._names_out(), dtype=object)

    def _names_out(self) -> list[str]:
        fitted = self._fitted_names
        return [f"{type(self).__name__.lower()}_{name}" for name in fitted]
