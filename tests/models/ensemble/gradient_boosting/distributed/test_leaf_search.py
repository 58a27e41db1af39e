"""Quantiles of leaves on workers are those of memory, however many passes they take."""

from functools import reduce

import numpy as np
import pytest

from thetahat.data.distributed.partition import packed
from thetahat.models.ensemble.gradient_boosting.distributed import leaf_search
from thetahat.models.ensemble.gradient_boosting.distributed.partition import CodedRows, Growing
from thetahat.models.ensemble.gradient_boosting.gradient_trees import Leaves


class Part:
    """A partition of residuals (y − 0) whose rows lie in two leaves."""

    def __init__(self, y, weight, first):
        self.fitted = CodedRows(np.empty((len(y), 1), dtype=np.uint8), y, weight)
        order = np.argsort(~first, kind="stable").astype(np.uint32)
        middle = int(first.sum())
        self.growing = Growing(None, order, (0, middle), (middle, len(y)))


def asking(parts, passes):
    """Passes over these partitions, which are counted."""

    def ask(prepare, work, *settings):
        passes.append(work)
        found = []
        for part in parts:
            before = np.zeros((len(part.fitted.y), 1))
            state = prepare(part, before, part.growing, packed(None, ([0, 1],)))
            found.append(work(part, state, packed(None, settings)))
        return reduce(lambda whole, part: whole.merge(part), found)

    return ask


def drawn(rng, kind, n):
    if kind == "ties":
        return rng.integers(-3, 4, n).astype(float)
    if kind == "constant":
        return np.full(n, 2.5)
    return rng.standard_cauchy(n) * 10.0 ** rng.integers(-8, 9, n)


@pytest.mark.parametrize("kind", ["ties", "constant", "tails"])
@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_of_memory(kind, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    for n in (2, 5, 40, 333):
        y, first = drawn(rng, kind, n), rng.random(n) < 0.6
        first[:2] = True, False
        weight = np.where(rng.random(n) < 0.1, 50.0, rng.random(n) + 0.1) if weighted else None
        cuts = np.sort(rng.integers(0, n + 1, 3))
        parts = [
            Part(y[some], None if weight is None else weight[some], first[some])
            for some in np.split(np.arange(n), cuts)
        ]
        passes = []
        ask = asking(parts, passes)
        order = np.argsort(~first, kind="stable").astype(np.uint32)
        leaves = Leaves(order, np.zeros(2, dtype=np.int32), np.array([0, first.sum(), n]))
        for level in (0.0, 0.1, 0.5, 0.75, 1.0):
            expected = leaves.quantiles(y, weight, level)
            for groups in (2, 3, 1000):
                monkeypatch.setattr(leaf_search, "LEAST_GROUPS", groups)
                monkeypatch.setattr(leaf_search, "MOST_GROUPS", 1)
                del passes[:]
                found = leaf_search._quantiles(ask, 2, len(parts), level)
                np.testing.assert_array_equal(found, expected)
                assert groups > 2 or kind != "tails" or n < 333 or len(passes) > 2
        for delta in (0.3, 5.0):
            start = leaf_search._quantiles(ask, 2, len(parts), 0.5)
            np.testing.assert_allclose(
                leaf_search._huber_constants(ask, start, delta),
                leaves.huber_constants(y, weight, delta),
                rtol=1e-9,
                atol=1e-11,
            )


def test_newton_steps_end_where_rounding_begins():
    rng = np.random.default_rng(0)
    most = []
    for _ in range(20):
        y, passes = 1000 + rng.lognormal(size=500), []
        ask = asking([Part(y, None, rng.random(500) < 0.5)], passes)
        start = leaf_search._quantiles(ask, 2, 1, 0.5)
        del passes[:]
        leaf_search._huber_constants(ask, start, 0.5)
        most.append(len(passes))
    assert max(most) <= 12
