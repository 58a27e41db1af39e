"""Members with names: (name, estimator) pairs, with parameters set as ``name__parameter``."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import Ensemble, require_weighable
from thetahat.models.ensemble.combination.metadata_routing import routed, routing_enabled

DROP = "drop"
"""Used in place of an estimator to omit it."""


class NamedMembers(Ensemble):
    """An ensemble of different models, each with a name; they receive X unchanged.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members as (name, estimator) pairs. They can be estimators of thetahat or others,
        including pipelines and searches. They receive X unchanged. Replace an estimator by "drop"
        to leave it out.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    verbose : int, default=0
        If positive, prints the name of each fitted member and the seconds of its fit.

    Attributes
    ----------
    estimators_ : list of estimators
        The members that were not dropped, fitted to all rows; in classification, to the class codes
        0, 1, ….
    named_estimators_ : Bunch
        The fitted members by name; access them as attributes or keys.
    """

    _prints_itself = True

    _mixes_kinds: ClassVar[bool] = False
    """Whether classifiers and regressors may be mixed."""

    estimators: list[tuple[str, Any]]
    _fitted_names: list[str]
    """Names of ``estimators_``, in the same order."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = [member for _, member in self._well_formed() if _is_estimator(member)]
        members = [get_tags(member) for member in known]
        tags.input_tags.sparse = bool(members) and all(m.input_tags.sparse for m in members)
        tags.input_tags.allow_nan = bool(members) and all(m.input_tags.allow_nan for m in members)
        return tags

    def _well_formed(self) -> list[tuple[str, Any]]:
        """The pairs; an empty list if `estimators` is not a list of pairs."""
        pairs = self.estimators if isinstance(self.estimators, list | tuple) else []
        good = all(
            isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
            for pair in pairs
        )
        return [(name, member) for name, member in pairs] if good else []

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the ensemble.

        Parameters
        ----------
        deep : bool, default=True
            If True, also return the members by name and their parameters as ``name__parameter``.

        Returns
        -------
        dict
            Parameter names and values.
        """
        found: dict[str, Any] = super().get_params(deep=False)
        if not deep:
            return found
        parts = {name: part for name, part in found.items() if name != "estimators"}
        for name, part in (parts | dict(self._well_formed())).items():
            found[name] = part
            if _is_estimator(part) and hasattr(part, "get_params"):
                nested = part.get_params(deep=True).items()
                found |= {f"{name}__{inner}": value for inner, value in nested}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the ensemble and of its members.

        Parameters
        ----------
        **params
            Parameters to set: those of the ensemble, ``name=estimator`` to replace a member,
            ``name="drop"`` to leave it out, or ``name__parameter=value``.

        Returns
        -------
        self
            The estimator itself.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        replaced = {name: params.pop(name) for name, _ in self._well_formed() if name in params}
        if replaced:
            self.estimators = [
                (name, replaced.get(name, member)) for name, member in self._well_formed()
            ]
        super().set_params(**params)
        return self

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit every member to all rows, and compute what is needed to combine them.

        Cost: one fit of each member; stacking and cross-validated model averaging need one more per
        fold.

        Parameters
        ----------
        X : anything the members take, of n rows
            Training rows, of any kind that the members accept; they receive X unchanged.
        y : array-like of shape (n,)
            Class label or target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. All members must support
            weights. None gives every row weight 1.
        **fit_params
            Passed to the ``fit`` method of the members through scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit_members(X, y, sample_weight, fit_params)
        return self

    @abstractmethod
    def _fit_members(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        """Validate the parameters, and do what `fit` describes."""

    @property
    def named_estimators(self) -> Bunch:
        """The members as given, by name."""
        return Bunch(**dict(self.estimators))

    def _active(self) -> list[tuple[str, Any]]:
        """The members that are not dropped; an error if `estimators` is not a valid list."""
        who, pairs = type(self).__name__, self._well_formed()
        if not pairs:
            raise ParameterError(
                f"{who}: Invalid 'estimators' attribute: 'estimators' should be a non-empty list "
                f"of (string, estimator) tuples, not {self.estimators!r}. Use "
                'estimators=[("name", model), ...].'
            )
        names = [name for name, _ in pairs]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ParameterError(
                f"{who}: Names provided are not unique: {', '.join(map(repr, repeated))} in "
                f"{names!r}. Use each name once."
            )
        taken = sorted(set(names) & set(super().get_params(deep=False)))
        if taken:
            raise ParameterError(
                f"{who}: Estimator names conflict with constructor arguments: {taken!r}. Choose "
                "other names."
            )
        odd = [name for name in names if "__" in name]
        if odd:
            raise ParameterError(
                f"{who}: Estimator names must not contain __: got {odd!r}. Two underscores "
                "separate the name of a member from its parameters."
            )
        active = [(name, member) for name, member in pairs if _is_used(member)]
        if not active:
            raise ParameterError(
                f"{who}: All estimators are dropped. At least one is required to be an estimator."
            )
        for name, member in active:
            self._require_kind(name, member)
        return active

    def _require_kind(self, name: str, member: Any) -> None:
        """Raise an error if a member is not an estimator of the right kind."""
        if not _is_estimator(member):
            raise ParameterError(
                f"{type(self).__name__}: {name!r} is {member!r}, which is not an estimator. Use an "
                'instance with fit and predict, or "drop".'
            )
        kind = get_tags(self).estimator_type
        if not self._mixes_kinds and get_tags(member).estimator_type != kind:
            raise ParameterError(
                f"{type(self).__name__}: The estimator {type(member).__name__} ({name!r}) should "
                f"be a {kind}. Replace it, or set it to 'drop'."
            )

    def _params_of_members(
        self, active: list[tuple[str, Any]], weight: Array | None, params: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Arguments of the `fit` method of each member, besides rows and targets."""
        weights = {} if weight is None else {"sample_weight": weight}
        if routing_enabled():
            found = routed(self, "fit", {**params, **weights})
            return {name: dict(found[name]["fit"]) for name, _ in active}
        routed(self, "fit", params)
        for name, member in active if weights else []:
            require_weighable(member, name, type(self).__name__)
        return {name: weights for name, _ in active}

    def _fit_named(
        self,
        active: list[tuple[str, Any]],
        given: dict[str, dict[str, Any]],
        X: Any,
        y: Array,
        members: list[Any],
    ) -> None:
        """Fit every member to all rows, in parallel, and append them to ``members``."""

        def work(pair: tuple[str, Any]) -> tuple[str, Any, float]:
            began = time.monotonic()
            member = fitted_member(*pair, X, y, given[pair[0]])
            return pair[0], member, time.monotonic() - began

        def keep(found: tuple[str, Any, float]) -> None:
            name, member, seconds = found
            members.append(member)
            self._print_fit(name, len(members), len(active), seconds)

        self._run(active, work, keep, members, X, y)

    def _print_fit(self, name: str, done: int, planned: int, seconds: float) -> None:
        """With ``verbose``, print the member that was fitted last in the form of scikit-learn."""
        if getattr(self, "verbose", 0):
            kind = "Stacking" if type(self).__name__.startswith("Stacking") else "Voting"
            end = f"({done} of {planned}) Processing {name}, total={seconds:6.1f}s"
            print(f"[{kind}] {'.' * max(0, 68 - len(kind) - len(end))} {end}")

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name; "drop" for the others."""
        if not hasattr(self, "_fitted_names"):
            raise AttributeError(f"{type(self).__name__} is not fitted yet. Call fit first.")
        fitted = dict(zip(self._fitted_names, self.estimators_, strict=True))
        return Bunch(**{name: fitted.get(name, DROP) for name, _ in self._well_formed()})

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's description of how metadata are routed to the members."""
        router = MetadataRouter(owner=self)
        for name, member in self._well_formed():
            if _is_used(member):
                mapping = MethodMapping().add(caller="fit", callee="fit")
                router.add(**{name: member}, method_mapping=mapping)
        return router


def _is_estimator(member: Any) -> bool:
    return hasattr(member, "fit") and not isinstance(member, type)


def _is_used(member: Any) -> bool:
    return not (isinstance(member, str) and member == DROP)


def fitted_member(name: str, member: Any, X: Any, y: Array, params: dict[str, Any]) -> Any:
    """A fitted copy of a member; errors and warnings name the member."""
    try:
        return clone(member).fit(X, y, **params)
    except Exception as failure:
        failure.add_note(f"(while fitting {name!r})")
        raise
