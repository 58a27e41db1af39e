"""Penalties R(θ): th.penalties.L1(alpha=0.1), L1(0.1) & NonNegative(), or the string "l1"."""

from thetahat.mathematics.parts import part_named
from thetahat.mathematics.penalties.balls import L1Ball, L2Ball
from thetahat.mathematics.penalties.base import Penalty
from thetahat.mathematics.penalties.box import Box, NonNegative
from thetahat.mathematics.penalties.coordinatewise import Combined
from thetahat.mathematics.penalties.group_lasso import GroupLasso
from thetahat.mathematics.penalties.l0 import L0
from thetahat.mathematics.penalties.norms import L1, L2, ElasticNet, NoPenalty
from thetahat.mathematics.penalties.off_diagonal import OffDiagonalL1

__all__ = [
    "L0",
    "L1",
    "L2",
    "Box",
    "Combined",
    "ElasticNet",
    "GroupLasso",
    "L1Ball",
    "L2Ball",
    "NoPenalty",
    "NonNegative",
    "OffDiagonalL1",
    "named",
]


def named(penalty: str | Penalty | None) -> Penalty:
    """Return the penalty with this name and its default parameters.

    Formula: "l2" ↦ ``L2(alpha=1.0)``, and None ↦ ``NoPenalty()``. A penalty is returned unchanged.
    Cost: O(1).

    Parameters
    ----------
    penalty : str, Penalty or None
        The name of a penalty, one of its aliases, or a penalty. None means no penalty.

    Returns
    -------
    Penalty

    Examples
    --------
    >>> import thetahat as th
    >>> th.penalties.named("elasticnet")
    ElasticNet(alpha=1.0, l1_ratio=0.5)
    """
    given = "none" if penalty is None else penalty
    return part_named("penalty", given, Penalty, _BY_NAME)  # type: ignore[type-abstract]


_BY_NAME: dict[str, type[Penalty]] = {
    part.name: part
    for part in (globals()[name] for name in __all__)
    if isinstance(part, type) and issubclass(part, Penalty)
}


def __dir__() -> list[str]:
    return sorted(__all__)
