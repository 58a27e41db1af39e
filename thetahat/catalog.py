"""All public estimators, losses, penalties and solvers, found by inspection.

`estimators`, `losses`, `penalties` and `solvers` inspect the public names; `solver_table` asks the
automatic choice which solver it takes for each loss and penalty; `taxonomy` sorts the models by
what they describe.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from textwrap import wrap
from typing import Any

import thetahat
from thetahat._public import NAMES, NAMESPACES
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.optional import optional_import

DESCRIBES = ("generative", "discriminative")
GROWS = ("parametric", "non-parametric")


def estimators() -> dict[str, type]:
    """List every public estimator by name.

    Formula: {name: class} for each th.name that is a scikit-learn estimator. Cost: imports the
    modules of all estimators.

    Examples
    --------
    >>> from thetahat.catalog import estimators
    >>> "LinearRegression" in estimators()
    True
    """
    from sklearn.base import BaseEstimator

    found = {}
    for name in sorted(NAMES):
        value = getattr(thetahat, name)
        members = {name: value}
        if name in NAMESPACES:
            members = {f"{name}.{each}": getattr(value, each) for each in value.__all__}
        for full, member in members.items():
            if isinstance(member, type) and issubclass(member, BaseEstimator):
                found[full] = member
    return found


@dataclass(frozen=True)
class Taxonomy:
    """The kind of every model: generative or discriminative, parametric or not; prints as a list.

    A generative model describes how the rows arise, p(x) or p(x, y), and can draw new ones; a
    discriminative model describes y given x only. A parametric model has a number of parameters
    that is fixed before the rows are seen; that of a non-parametric model grows with them. Models
    that combine others are listed by their default members.

    Formula: p(x, y) = p(y | x)·p(x), where a discriminative model leaves out p(x). Cost: O(models).

    Attributes
    ----------
    kinds : dict of str to (str, str)
        For each name, "generative" or "discriminative", and "parametric" or "non-parametric".

    Examples
    --------
    >>> import thetahat as th
    >>> th.taxonomy().kinds["LogisticRegression"]
    ('discriminative', 'parametric')
    >>> "DensityTree" in th.taxonomy().names("generative", "non-parametric")
    True
    """

    kinds: dict[str, tuple[str, str]]

    def names(self, describes: str | None = None, grows: str | None = None) -> list[str]:
        """List the models of a kind. Cost: O(models).

        Parameters
        ----------
        describes : {"generative", "discriminative"}, optional
            What the models describe. By default both kinds are listed.
        grows : {"parametric", "non-parametric"}, optional
            Whether the number of parameters is fixed or grows. By default both kinds are listed.

        Returns
        -------
        list of str
        """
        for given, allowed in ((describes, DESCRIBES), (grows, GROWS)):
            if given is not None and given not in allowed:
                raise ParameterError(
                    f"Taxonomy.names: {given!r} must be {allowed[0]!r} or {allowed[1]!r}."
                )
        return [
            name
            for name, (first, second) in self.kinds.items()
            if describes in (None, first) and grows in (None, second)
        ]

    def to_frame(self) -> Any:
        """Convert to a pandas DataFrame with one row per model. Cost: O(models).

        Returns
        -------
        pandas.DataFrame
        """
        pandas = optional_import("pandas", purpose="Taxonomy.to_frame")
        columns = ["describes", "parameters"]
        return pandas.DataFrame.from_dict(self.kinds, orient="index", columns=columns)

    def __str__(self) -> str:
        lines = []
        for kind in product(DESCRIBES, GROWS):
            names = self.names(*kind)
            lines += [f"{', '.join(kind)} ({len(names)})"]
            lines += wrap(", ".join(names), 96, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines)

    __repr__ = __str__


def taxonomy() -> Taxonomy:
    """Sort all classifiers, regressors and densities by what they describe.

    Formula: generative p(x, y) or discriminative p(y | x); parametric θ ∈ ℝ^d with d fixed, or not.
    Cost: imports the modules of all estimators.

    Returns
    -------
    Taxonomy

    Examples
    --------
    >>> import thetahat as th
    >>> th.taxonomy().kinds["KNeighborsClassifier"]
    ('discriminative', 'non-parametric')
    """
    models: dict[str, Any] = dict(estimators())
    return Taxonomy(
        {
            name: (DESCRIBES[not kind._generative], GROWS[not kind._parametric])
            for name, kind in models.items()
            if kind._generative is not None and kind._parametric is not None
        }
    )


def losses() -> dict[str, type]:
    """Every public loss by name."""
    from thetahat.mathematics.losses.base import Loss

    return _classes("losses", Loss)


def penalties() -> dict[str, type]:
    """Every public penalty by name."""
    from thetahat.mathematics.penalties.base import Penalty

    return _classes("penalties", Penalty)


def solvers() -> dict[str, type]:
    """Every public optimizer by name."""
    from thetahat.mathematics.optimizers.loop import Method

    return _classes("optimizers", Method)


def solver_table(n_rows: int = 1000, n_features: int = 20) -> dict[tuple[str, str], str]:
    """The solver that ``auto`` takes for each loss and penalty; "—" if none can."""
    from thetahat.objective.choose import choose_solver

    table = {}
    plain = {name: part for name, part in penalties().items() if name != "Combined"}
    for loss_name, loss in losses().items():
        for penalty_name, penalty in plain.items():
            try:
                method, _ = choose_solver(loss(), penalty(), n_rows, n_features + 1)
                table[loss_name, penalty_name] = type(method).__name__
            except CapabilityError:
                table[loss_name, penalty_name] = "—"
    return table


def _classes(namespace: str, base: type) -> dict[str, type]:
    module = getattr(thetahat, namespace)
    found = ((name, getattr(module, name)) for name in module.__all__)
    return {
        name: value
        for name, value in found
        if isinstance(value, type) and issubclass(value, base) and value is not base
    }
