"""All public estimators, losses, penalties and solvers, found by inspection.

`estimators`, `losses`, `penalties` and `solvers` inspect the public names; `solver_table` asks the
automatic choice which solver it takes for each loss and penalty.
"""

from __future__ import annotations

import thetahat
from thetahat._public import NAMES, NAMESPACES
from thetahat.foundation.errors import CapabilityError


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
