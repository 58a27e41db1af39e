"""Structured support vector machines: ŵ = argmin Σ wᵢℓᵢ/Σ wᵢ + α/2·‖w‖², ŷ = argmax_y w·φ(x, y)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.data.source import row_weights
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    check_ranges,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.checked_value import check_arrays, check_columns, check_rule
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.dual.cutting_planes import CuttingPlanes
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.structures import Chain, Multiclass, Structure
from thetahat.models.structured.sequences import as_sequences, chain_of, coded_labels
from thetahat.objective.structured_risk import RandomFieldRisk, StructuredHingeRisk, StructuredRisk


@with_parameters
class StructuredSVM(WatchedSolver, Classifier):
    """Support vector machine for structured outputs, such as sequences of labels.

    Formula: ŷ(x) = argmax_y w·φ(x, y) with joint features φ of input and output, and
    ŵ = argmin (Σ wᵢ ℓᵢ)/(Σ wᵢ) + α/2·‖w‖². The loss of an example is the structured hinge
    ℓ = max over y′ of Δ(y, y′) + w·φ(x, y′) − w·φ(x, y): every output must be worse than the right
    one by a margin that grows with its cost Δ. With ``loss="logistic"`` it is that of a conditional
    random field, ℓ = log Σ_y′ exp(w·φ(x, y′)) − w·φ(x, y).

    A structure defines φ, Δ and the search for the best output. ``structure="multiclass"`` gives
    the multi-class machine of Crammer and Singer, as `LinearSVC` with
    ``multi_class="crammer_singer"`` and ``C=1/(alpha·n)``; ``structure="chain"`` labels sequences.
    Derive a class from ``th.structures.Structure`` for other outputs.

    Cost: one search for the best output per example and iteration, and O(p) for each of the outputs
    that are kept, p being the number of weights; memory O(n p) for n examples.

    Parameters
    ----------
    structure : {"multiclass", "chain"} or Structure, default="multiclass"
        The outputs. "multiclass": X has one row and y one label for each example. "chain": X is a
        list of arrays of shape (length, d), and y a list of sequences of labels. A value of a class
        derived from ``th.structures.Structure``: X and y are lists of objects that its methods
        accept.
    alpha : float, default=0.01
        Strength of the penalty, alpha/2·‖w‖², which is added to the mean loss. Larger values give
        smaller weights. Must be positive.
    loss : {"hinge", "logistic"}, default="hinge"
        The structured hinge loss, or the negative log-likelihood of a conditional random field,
        which needs a structure with ``log_partition``, such as "chain".
    max_iter : int or None, default=None
        Maximum number of iterations of the solver. None takes the solver's own limit. Increase it
        when a warning reports that the solver did not converge.
    tol : float, default=1e-6
        Tolerance for the duality gap of the hinge loss, or for the largest entry of the gradient of
        the logistic loss. Smaller values give more digits and need more iterations.

    Attributes
    ----------
    weights_ : array of shape (p,)
        The weights of the joint features.
    structure_ : Structure
        The structure with its sizes.
    classes_ : array of shape (n_classes,)
        The labels in sorted order. Defined for "multiclass" and "chain".
    coef_ : array of shape (n_classes, d)
        The weights of the columns for each class; of emissions for "chain".
    intercept_ : array of shape (n_classes,)
        The weights of the constant for each class, which are penalised too; of the first label for
        "chain".
    transition_ : array of shape (n_classes, n_classes)
        Scores of pairs of neighbouring labels. Defined for "chain".

    References
    ----------
    Tsochantaridis, Joachims, Hofmann and Altun (2005), "Large margin methods for structured and
    interdependent output variables", JMLR 6; Lacoste-Julien, Jaggi, Schmidt and Pletscher (2013),
    "Block-coordinate Frank-Wolfe optimization for structural SVMs".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = [np.array([[2.0], [0.1], [1.5], [-2.0]]), np.array([[-1.0], [-2.0], [1.0]])]
    >>> y = [["up", "up", "up", "down"], ["down", "down", "up"]]
    >>> model = th.StructuredSVM("chain").fit(X, y)
    >>> model.predict([np.array([[-3.0], [2.0], [2.0]])])[0].tolist()
    ['down', 'up', 'up']
    """

    _parametric = True

    structure: Any = "multiclass"
    alpha: float = 0.01
    _: KW_ONLY
    loss: str = "hinge"
    max_iter: int | None = None
    tol: float = 1e-6

    _ranges: ClassVar[dict[str, Range]] = {
        "structure": one_of("multiclass", "chain")
        | Range(lambda value: isinstance(value, Structure), "a th.structures.Structure"),
        "alpha": more_than(0, LARGEST_FACTOR),
        "loss": one_of("hinge", "logistic"),
        "max_iter": whole(1) | none,
        "tol": at_least(0),
    }
    _streams = False
    _for_few_rows = True
    _tried_when_loaded = False  # it may take sequences, or inputs of another kind

    def _check_loaded(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        check_ranges(self)
        if isinstance(self.structure, Structure):
            check_rule(self, self.structure_ == self.structure, "structure_ must be the structure")
            check_arrays(self, {"weights_": (np.float64, (None,))})
            return
        check_columns(self)
        k, d = len(np.atleast_1d(self.classes_)), self.n_features_in_
        check_rule(self, np.shape(self.classes_) == (k,), "classes_ must be an array of labels")
        layout = {"coef_": (k, d), "intercept_": (k,)}
        if self.structure == "chain":
            wanted: Structure = Chain(k, d)
            layout |= {"weights_": (k * (1 + d + k),), "transition_": (k, k)}
        else:
            wanted = Multiclass(k, d + 1)
            layout["weights_"] = (k * (d + 1),)
        check_rule(self, self.structure_ == wanted, f"structure_ must be {wanted!r}")
        check_arrays(self, {name: (np.float64, shape) for name, shape in layout.items()})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.structure != "multiclass":
            tags.estimator_type, tags.classifier_tags = None, None
            tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StructuredSVM:
        """Fit the weights to all examples. Cost: one search per example and iteration.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of n inputs
            The inputs: rows for "multiclass", arrays of shape (length, d) for "chain".
        y : array-like of shape (n,), or list of n outputs
            The outputs: labels for "multiclass", sequences of labels for "chain".
        sample_weight : array-like of shape (n,), optional
            Weights of the examples. An example of weight 2 counts as two equal ones. None gives
            every example weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_ranges(self)
        risk = self._risk(*self._examples(X, y, sample_weight))
        method = CuttingPlanes() if self.loss == "hinge" else LBFGS()
        kind = "structured hinge" if self.loss == "hinge" else "smooth structured"
        with (
            one_blas_thread(),
            self._watching(self.max_iter, self._attributes, X, y) as watch,
        ):
            self.solution_ = minimise(
                risk,
                method,
                tolerance=self.tol,
                max_steps=self.max_iter,
                watch=watch,
                reason=f"{kind} loss with L2",
            )
        self.__dict__.update(self._attributes(self.solution_.theta))
        self.n_iter_ = max(1, self.solution_.steps)
        self._warn_unless_converged()
        return self

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[Any], list[Any], Array]:
        """Inputs and outputs as the structure takes them, and shares; sets ``structure_``."""
        who = type(self).__name__
        if self.structure == "multiclass":
            source = self._open_classes(X, y, sample_weight)
            require_two_weighted_classes(source, self.classes_, who)
            assert isinstance(source, InMemory)
            rows = _with_constant(source.X)
            self.structure_: Structure = Multiclass(len(self.classes_), rows.shape[1])
            codes = np.asarray(source.y).astype(int).tolist()
            return list(rows), codes, source.row_weights
        if y is None:
            raise DataError(
                f"{who} requires y to be passed, but the target y is None. Pass one output for "
                "each input."
            )
        if len(X) != len(y) or not len(X):
            raise DataError(
                f"{who}: X has {len(X)} inputs and y has {len(y)} outputs. Pass at least one "
                "input, and one output for each."
            )
        weight = row_weights(_checked_weights(sample_weight, len(X), who), len(X))
        if self.structure == "chain":
            inputs = as_sequences(X, who)
            outputs, self.classes_ = coded_labels(y, [len(each) for each in inputs], who)
            self.n_features_in_ = inputs[0].shape[1]
            self.structure_ = chain_of(len(self.classes_), self.n_features_in_, who)
            return inputs, outputs, weight
        self.__dict__.pop("classes_", None)
        self.structure_ = self.structure
        return list(X), list(y), weight

    def _risk(self, X: list[Any], Y: list[Any], weight: Array) -> StructuredRisk:
        used = np.flatnonzero(weight > 0)
        X, Y = [X[i] for i in used], [Y[i] for i in used]
        shares = weight[used] / weight.sum()
        if self.loss == "hinge":
            kind: type[StructuredRisk] = StructuredHingeRisk
        else:
            kind = RandomFieldRisk
            if not hasattr(self.structure_, "log_partition"):
                raise ParameterError(
                    f"StructuredSVM: loss='logistic' needs a structure with log_partition(x, "
                    f"weights), which {type(self.structure_).__name__} has not. Use "
                    "loss='hinge', or structure='chain'."
                )
        size = len(np.ravel(self.structure_.features(X[0], Y[0])))
        require_memory(
            40 * len(X) * size,
            f"StructuredSVM: the joint features of {len(X)} examples with {size} weights",
            "Use fewer examples, or fewer columns.",
        )
        return kind(self.structure_, X, Y, shares, float(self.alpha))

    def _attributes(self, theta: Array) -> dict[str, Any]:
        found: dict[str, Any] = {"weights_": theta}
        if isinstance(self.structure_, Multiclass) and self.structure == "multiclass":
            table = theta.reshape(self.structure_.n_classes, -1)
            found |= {"coef_": table[:, :-1], "intercept_": table[:, -1]}
        elif self.structure == "chain":
            start, emission, transition = self.structure_.split(theta)  # type: ignore[attr-defined]
            found |= {"coef_": emission, "intercept_": start, "transition_": transition}
        return found

    def predict(self, X: Any) -> Any:
        """Predict the output with the largest score for each input. Cost: one search for each.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of n inputs
            The inputs, as in `fit`.

        Returns
        -------
        array of shape (n,), or list of n outputs
            Labels for "multiclass", arrays of labels for "chain".
        """
        if self.structure == "multiclass":
            scores = self._scores(X)
            return self.classes_[scores.argmax(axis=1)]
        check_is_fitted(self)
        if self.structure == "chain":
            inputs = as_sequences(X, type(self).__name__, self.n_features_in_)
            return [self.classes_[self.structure_.decode(x, self.weights_)] for x in inputs]
        return [self.structure_.decode(x, self.weights_) for x in X]

    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes; only for "multiclass". Cost: O(n d n_classes).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,), positive for ``classes_[1]``, or (n, n_classes)
        """
        if self.structure != "multiclass":
            raise ParameterError(
                f"StructuredSVM: decision_function needs structure='multiclass', but structure="
                f"{self.structure!r}. Use predict."
            )
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _scores(self, X: Any) -> Array:
        source = self._open_again(X)
        return source.map_rows(
            lambda block: (block.X @ self.coef_.T + self.intercept_).astype(block.X.dtype)
        )

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy, or minus the mean loss for a structure of your own.

        For "chain" it is the share of all positions with the right label. Cost: that of `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of n inputs
            The inputs, as in `fit`.
        y : array-like of shape (n,), or list of n outputs
            The true outputs of these inputs.
        sample_weight : array-like of shape (n,), optional
            Weights of the examples. None gives every example weight 1.

        Returns
        -------
        float
        """
        if self.structure == "multiclass":
            return super().score(X, y, sample_weight)
        weight = row_weights(_checked_weights(sample_weight, len(X), type(self).__name__), len(X))
        found = self.predict(X)
        if self.structure != "chain":
            losses = [self.structure_.loss(a, b) for a, b in zip(y, found, strict=True)]
            return -float(np.average(losses, weights=weight))
        right = [np.mean(np.asarray(a) == b) for a, b in zip(y, found, strict=True)]
        lengths = np.array([len(each) for each in found])
        return float(np.average(right, weights=weight * lengths))


def _with_constant(X: Array) -> Array:
    return np.column_stack([np.asarray(X, dtype=np.float64), np.ones(X.shape[0])])


def _checked_weights(given: Any, count: int, who: str) -> Array | None:
    if given is None:
        return None
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (count,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise DataError(
            f"{who}: sample_weight must hold one finite number ≥ 0 for each of the {count} "
            f"examples, but has shape {weight.shape}. Pass one weight per example."
        )
    if not weight.any():
        raise DataError(f"{who}: all weights are 0. Give at least one example a positive weight.")
    return weight
