"""Arguments on which every primitive of autodiff is tested."""

import numpy as np

from thetahat.mathematics.autodiff.primitives import PRIMITIVES


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def well_conditioned(seed, *shape):
    return random(seed, *shape) + 4 * np.eye(shape[-1])


ARGUMENTS = {
    "where": ((np.array([True, False, True]), random(0, 2, 3), random(1, 3)), {}),
    "reshape": ((random(0, 2, 3),), {"shape": (3, 2)}),
    "permute_dims": ((random(0, 2, 3, 4),), {"axes": (2, 0, 1)}),
    "broadcast_to": ((random(0, 3, 1),), {"shape": (2, 3, 4)}),
    "flip": ((random(0, 2, 3),), {"axis": (1,)}),
    "cast": ((random(0, 3),), {"dtype": np.float64}),
    "concat": ((random(0, 2, 3), random(1, 1, 3), random(2, 2, 3)), {"axis": 0}),
    "getitem": ((random(0, 3, 4),), {"key": (np.array([0, 2, 0]), slice(1, 3))}),
    "scatter": ((random(0, 3, 2),), {"key": np.array([1, 1, 3]), "shape": (5, 2)}),
    "sum": ((random(0, 2, 3, 4),), {"axis": (0, -1)}),
    "cumulative_sum": ((random(0, 3, 4),), {"axis": 1}),
    "max": ((random(0, 2, 3, 4),), {"axis": 1}),
    "min": ((random(0, 2, 3),), {"axis": None}),
    "matmul": ((random(0, 2, 1, 3, 4), random(1, 5, 4, 2)), {}),
    "solve": ((well_conditioned(0, 2, 3, 3), random(1, 3, 2)), {}),
    "inv": ((well_conditioned(0, 2, 3, 3),), {}),
    "det": ((well_conditioned(0, 2, 3, 3),), {"axis": (-2, -1)}),
    "logabsdet": ((well_conditioned(0, 2, 3, 3),), {"axis": (-2, -1)}),
}
"""Arguments and options of the primitives that do not work entry by entry."""


def elementwise_arity(primitive):
    return 2 if primitive.name in ufuncs_of_two() else 1


def ufuncs_of_two():
    return {
        name
        for name in PRIMITIVES
        if getattr(getattr(np, name, None), "nin", 0) == 2 or name == "xlogy"
    }


def arguments(name):
    """Arguments that broadcast, inside the primitive's domain and off the kinks."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    low, high = PRIMITIVES[name].domain
    draw = np.random.default_rng(3)
    shapes = [(2, 3), (2, 1)][: elementwise_arity(PRIMITIVES[name])]
    return tuple(draw.uniform(low, high, size=shape) for shape in shapes), {}
