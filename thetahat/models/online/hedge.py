"""Hedge: combine the advice of experts, almost as well as the best one in hindsight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, inner_fraction, none, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class HedgeRun:
    """Losses of Hedge and of the experts in one run, with the theoretical bounds.

    All numbers refer to this run alone, even if there were earlier runs.

    Formula: L ≤ min_i (L_i ln(1/β) + ln(1/p_i))/(1 − β) with p the weights at the start of the run;
    in the first run they are 1/n each. Cost: O(rounds) memory.

    Attributes
    ----------
    losses : array of shape (rounds,)
        Loss of Hedge in each round (p·l).
    expert_losses : array of shape (n_experts,)
        Total loss of each expert.
    bound : float
        Upper bound on the total loss; (L_min ln(1/β) + ln n)/(1 − β) in a first run.
    tuned_bound : float or None
        The bound L_min + √(2T ln n) + ln n. None unless β was tuned for T rounds and this was the
        first run with at most T rounds.
    regret : array of shape (rounds,)
        Total loss of Hedge minus that of the best expert so far, after each round.
    regret_bounds : array of shape (rounds,)
        Upper bound on the regret after each round.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> run = th.online.Hedge(rounds=1000).run(losses)
    >>> run.bounds_hold
    True
    """

    losses: Array
    expert_losses: Array
    bound: float
    tuned_bound: float | None
    regret: Array
    regret_bounds: Array

    @property
    def total(self) -> float:
        """Total loss of Hedge (L)."""
        return float(self.losses.sum())

    @property
    def bounds_hold(self) -> bool:
        """Whether the bound holds in every round, and the tuned bound at the end."""
        slack = 1e-9 * (1 + self.total)
        within = bool((self.regret <= self.regret_bounds + slack).all())
        return within and (self.tuned_bound is None or self.total <= self.tuned_bound + slack)

    def __str__(self) -> str:
        return (
            f"{self.losses.size} rounds: loss {self.total:.6g}, best expert "
            f"{self.expert_losses.min():.6g}, bound {self.bound:.6g}"
        )

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Plot the regret and its bounds over the rounds. Cost: O(rounds).

        If β was tuned for T rounds, a horizontal line shows √(2T ln n) + ln n, the bound for the
        last round.

        Parameters
        ----------
        axes : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="HedgeRun.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        rounds = np.arange(1, self.regret.size + 1)
        axes.plot(rounds, self.regret, label="regret")
        axes.plot(rounds, self.regret_bounds, "--", label="bound for this β and these losses")
        if self.tuned_bound is not None:
            beyond = self.tuned_bound - self.expert_losses.min()
            axes.axhline(beyond, color="black", lw=0.8, label="√(2T ln n) + ln n")
        axes.set(xlabel="round", ylabel="regret against the best expert")
        axes.legend(frameon=False)
        return axes


class Hedge:
    """Hedge: weights experts by their past losses, w_i ← w_i·β^{loss_i}.

    Formula: Hedge plays p_i = w_i/Σw and loses p·l; its total loss satisfies L ≤ (L_min ln(1/β) +
    ln n)/(1 − β). With β = 1/(1 + √(2 ln n/T)) for T rounds, L ≤ L_min + √(2T ln n) + ln n, so the
    regret per round goes to 0. After more than T rounds only the first bound holds.

    Cost: O(n_experts) per round.

    Parameters
    ----------
    beta : float or None, default=None
        Factor by which the weight of an expert with loss 1 shrinks (β). Smaller values react faster
        to losses. Must lie in (0, 1). None tunes it for ``rounds``.
    rounds : int or None, default=None
        Number of rounds that will be played (T). Required if ``beta`` is None.

    Attributes
    ----------
    weights_ : array of shape (n_experts,)
        Current weights of the experts (p), which sum to 1.
    beta_ : float
        The factor that is used (β).
    total_loss_ : float
        Total loss of Hedge so far.
    expert_losses_ : array of shape (n_experts,)
        Total loss of each expert so far.
    n_rounds_ : int
        Number of rounds played so far.

    Examples
    --------
    >>> import thetahat as th
    >>> hedge = th.online.Hedge(beta=0.5)
    >>> float(hedge.update([0.0, 1.0])), hedge.weights_.round(4).tolist()
    (0.5, [0.6667, 0.3333])
    """

    beta_: float
    n_rounds_: int
    total_loss_: float
    expert_losses_: Array
    _log_weights: Array

    def __init__(self, *, beta: float | None = None, rounds: int | None = None) -> None:
        if beta is None and rounds is None:
            raise ParameterError(
                "Hedge: beta=None and rounds=None. Set beta, or rounds to tune it."
            )
        check_value(beta, none | inner_fraction, "beta", "Hedge")
        check_value(rounds, none | whole(1), "rounds", "Hedge")
        self.beta, self.rounds = beta, rounds

    def update(self, losses: Any) -> float:
        """Play one round and update the weights. Cost: O(n_experts).

        Parameters
        ----------
        losses : array-like of shape (n_experts,)
            Loss of each expert in this round, in [0, 1].

        Returns
        -------
        float
            Loss of Hedge in this round (p·l).
        """
        loss = np.asarray(losses, dtype=float)
        if loss.ndim != 1 or not loss.size:
            raise DataError(f"Hedge: losses has shape {loss.shape}; pass one loss per expert.")
        if not (np.isfinite(loss).all() and loss.min() >= 0 and loss.max() <= 1):
            expert = int(np.argmax(~((loss >= 0) & (loss <= 1))))
            raise DataError(
                f"Hedge: losses must lie in [0, 1]; expert {expert} has {loss[expert]:g}. Scale "
                "the losses."
            )
        if not hasattr(self, "_log_weights"):
            self._begin(loss.size)
        if loss.size != self.expert_losses_.size:
            raise DataError(
                f"Hedge: got {loss.size} losses for {self.expert_losses_.size} experts. Pass one "
                "loss per expert."
            )
        own = float(self.weights_ @ loss)
        self._log_weights = self._log_weights + loss * np.log(self.beta_)
        self.n_rounds_ += 1
        self.total_loss_ += own
        self.expert_losses_ = self.expert_losses_ + loss
        return own

    def run(self, losses: Iterable[Any]) -> HedgeRun:
        """Play a sequence of rounds, continuing from the current weights.

        The result describes these rounds alone. Cost: O(rounds × n_experts).

        Parameters
        ----------
        losses : iterable of array-like of shape (n_experts,)
            Losses of the experts in each round, in [0, 1].

        Returns
        -------
        HedgeRun
            Losses, regret and bounds of these rounds.
        """
        earlier = self._state()
        own, best, bounds = [], [], []
        for each in losses:
            own.append(self.update(each))
            if earlier is None:
                n = self.expert_losses_.size
                earlier = np.zeros(n), np.full(n, np.log(n))
            lost, neg_log_priors = self.expert_losses_ - earlier[0], earlier[1]
            best.append(float(lost.min()))
            bounds.append(self._bound(lost, neg_log_priors))
        if not own:
            raise DataError("Hedge: losses is empty. Pass the losses of at least one round.")
        first = len(own) == self.n_rounds_
        regret, regret_bounds = np.cumsum(own) - best, np.array(bounds) - best
        tuned = self.tuned_bound if first else None
        return HedgeRun(np.array(own), lost, bounds[-1], tuned, regret, regret_bounds)

    @property
    def weights_(self) -> Array:
        """Current weights of the experts, p_i = w_i/Σw."""
        weights = np.exp(self._log_weights - self._log_weights.max())
        return weights / weights.sum()

    @property
    def bound(self) -> float:
        """The bound (L_min ln(1/β) + ln n)/(1 − β) for the losses so far. Cost: O(n_experts)."""
        return self._bound(self.expert_losses_, np.log(self.expert_losses_.size))

    @property
    def tuned_bound(self) -> float | None:
        """The bound L_min + √(2T ln n) + ln n, if β was tuned for T rounds.

        None if β was given, or after more than T rounds, for which the bound does not hold. Cost:
        O(n_experts).
        """
        if self.beta is not None or self.rounds is None or self.n_rounds_ > self.rounds:
            return None
        log_n = np.log(self.expert_losses_.size)
        return float(self.expert_losses_.min() + np.sqrt(2 * self.rounds * log_n) + log_n)

    def _bound(self, lost: Array, neg_log_priors: Array) -> float:
        """The smallest (L_i ln(1/β) + ln(1/p_i))/(1 − β) over the experts."""
        return float((lost * -np.log(self.beta_) + neg_log_priors).min() / (1 - self.beta_))

    def _state(self) -> tuple[Array, Array] | None:
        """Losses of the experts and ln(1/p_i) so far; None before the first round."""
        if not hasattr(self, "_log_weights"):
            return None
        most = self._log_weights.max()
        log_sum = most + np.log(np.exp(self._log_weights - most).sum())
        return self.expert_losses_, log_sum - self._log_weights

    def _begin(self, n: int) -> None:
        if self.beta is not None:
            self.beta_ = float(self.beta)
        else:
            assert self.rounds is not None
            self.beta_ = 1.0 / (1.0 + np.sqrt(2.0 * np.log(max(2, n)) / self.rounds))
        self._log_weights = np.zeros(n)
        self.n_rounds_, self.total_loss_, self.expert_losses_ = 0, 0.0, np.zeros(n)
