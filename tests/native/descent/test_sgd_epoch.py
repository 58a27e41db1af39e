"""Epochs of single-row steps beside their plain twin."""

import numpy as np
import pytest

from tests.native.descent.sparse_rows import csr
from tests.reference.descent import sgd_epoch as twin
from thetahat import _native

SGD_LOSSES = (
    "hinge", "squared_hinge", "logistic", "class_huber", "perceptron", "squared", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
)  # fmt: skip
SGD_SETTINGS = {
    "plain": {},
    "weighted": {"weighted": True, "multiplier": 2.0},
    "ridge": {"l2": 0.3},
    "lasso": {"l1": 0.02},
    "elastic net": {"l2": 0.2, "l1": 0.02},
    "averaged": {"l2": 0.2, "l1": 0.02, "average_from": 30},
    "vanishing": {"l2": 9.0, "average_from": 0},
    "no intercept": {"intercept": False},
    "one class": {"l2": 0.3, "level": 0.3, "average_from": 30},
}


def sgd_arguments(loss, rule=0, *, weighted=False, average_from=None, **settings):
    """Arguments after the rows, and the rows: half of the entries zero."""
    random = np.random.default_rng(loss)
    n, d = 80, 11
    x = np.where(random.random((n, d)) < 0.5, 0.0, random.standard_normal((n, d)))
    x = x.astype(np.float32).astype(float)
    y = np.sign(random.standard_normal(n)) * (1.0 if loss < 5 else random.random(n) * 3)
    options = {"multiplier": 1.0, "l2": 0.0, "l1": 0.0, "level": 0.0, "intercept": True} | settings
    return x, [
        y,
        random.random(n) * 2 if weighted else np.empty(0),
        random.integers(n, size=3 * n),
        0.3 / np.sqrt(np.arange(1.0, 3 * n + 1)),
        loss,
        0.4,
        rule,
        *options.values(),
        random.standard_normal(d),
        np.array([0.3, 0.0, 0.0, 0.0, 0.0]),
        np.zeros(d if options["l1"] else 0),
        np.zeros(0 if average_from is None else d),
        average_from or 0,
    ]


@pytest.mark.parametrize("setting", SGD_SETTINGS)
@pytest.mark.parametrize("loss", range(9), ids=SGD_LOSSES)
def test_sgd_epoch(loss, setting):
    x, expected = sgd_arguments(loss, **SGD_SETTINGS[setting])
    total = twin.sgd_epoch(x, *expected)
    assert expected[12].any()
    for dtype in (np.float64, np.float32):
        _, got = sgd_arguments(loss, **SGD_SETTINGS[setting])
        assert _native.sgd_epoch(x.astype(dtype), *got) == pytest.approx(total, rel=1e-10)
        for ours, plain in zip(got[12:16], expected[12:16], strict=True):
            np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-11)
        for index in (np.int32, np.int64):
            _, same = sgd_arguments(loss, **SGD_SETTINGS[setting])
            rows = csr(x.astype(dtype), index)
            assert _native.sgd_epoch(*rows, *same) == pytest.approx(total, rel=1e-10)
            for ours, dense in zip(same[12:16], got[12:16], strict=True):
                np.testing.assert_allclose(ours, dense, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("rule", [1, 2], ids=["pa1", "pa2"])
@pytest.mark.parametrize("loss", [0, 7], ids=["hinge", "epsilon_insensitive"])
def test_sgd_epoch_passive_aggressive(loss, rule):
    (x, got), (_, expected) = sgd_arguments(loss, rule), sgd_arguments(loss, rule)
    x[x.sum(axis=1) == 0] = 1.0
    total = twin.sgd_epoch(x, *expected)
    assert _native.sgd_epoch(x, *got) == pytest.approx(total)
    np.testing.assert_allclose(got[12], expected[12], rtol=1e-10)
    np.testing.assert_allclose(got[13], expected[13], rtol=1e-10)


def test_sgd_epoch_tells_an_overflow():
    x, arguments = sgd_arguments(5)
    arguments[3] = np.full(240, 1e300)
    assert np.isnan(_native.sgd_epoch(1e10 * x, *arguments))


def test_sgd_epoch_refuses_what_does_not_fit():
    x, good = sgd_arguments(0)
    for place, wrong, rule in (
        (0, np.zeros(3), "y must have"),
        (1, np.zeros(3), "weight must be"),
        (2, np.full(240, 80), "order names"),
        (2, np.full(240, -1), "order names"),
        (3, np.zeros(3), "rates must have"),
        (4, 99, "no loss"),
        (6, 3, "no rule"),
        (12, np.zeros(3), "coef must have"),
        (13, np.zeros(3), "carried must have"),
        (14, np.zeros(3), "paid must have"),
        (15, np.zeros(3), "average must be"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.sgd_epoch(x, *good[:place], wrong, *good[place + 1 :])
    data, columns, bounds, n_columns = csr(x, np.int32)
    for indices, indptr, rule in (
        (columns + 1, bounds, "column index"),
        (columns - 1, bounds, "column index"),
        (columns, bounds + 1, "past the stored"),
        (columns, bounds[::-1].copy(), r"past|decrease"),
        (columns[1:], bounds, "same length"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.sgd_epoch(data, indices, indptr, n_columns, *good)


@pytest.mark.parametrize("setting", ["plain", "elastic net", "averaged", "one class"])
def test_sgd_epochs_are_epochs_until_the_objective_stops_falling(setting):
    x, one = sgd_arguments(0, **SGD_SETTINGS[setting])
    _, many = sgd_arguments(0, **SGD_SETTINGS[setting])
    _, l2, l1, _, _ = one[7:12]
    order, rates, average_from = one[2], one[3], one[16]
    progress = np.array([0.0, np.inf, np.inf, np.inf, 0.0, 0.0])
    made = _native.sgd_epochs(x, *many, 80, 80.0, 0.01, 2.0, progress)
    best, idle = np.inf, 0
    for epoch in range(3):
        one[2], one[3] = order[80 * epoch :][:80].copy(), rates[80 * epoch :][:80].copy()
        one[16] = max(average_from - 80 * epoch, 0)
        loss = _native.sgd_epoch(x, *one) / 80
        w = one[12]
        value = loss + l2 / 2 * w @ w + l1 * np.abs(w).sum()  # the loss holds that of the level
        idle, best = idle + 1 if value > best - 0.01 else 0, min(best, value)
        if idle >= 2:
            break
    assert made == epoch + 1
    for ours, plain in zip(many[12:16], one[12:16], strict=True):
        np.testing.assert_array_equal(ours, plain)
    assert progress[2] == pytest.approx(value)
    assert progress[1] == pytest.approx(best)
    assert progress[4] == idle
    assert progress[5] == (idle >= 2)


def test_sgd_epochs_refuse_parts_of_an_epoch():
    x, good = sgd_arguments(0)
    for visits, progress, rule in ((7, 6, "whole passes"), (0, 6, "whole"), (80, 3, "progress")):
        with pytest.raises(ValueError, match=rule):
            _native.sgd_epochs(x, *good, visits, 80.0, 0.01, 2.0, np.zeros(progress))


def test_sgd_epochs_tell_an_overflow():
    x, arguments = sgd_arguments(5)
    arguments[3] = np.full(240, 1e300)
    progress = np.array([0.0, np.inf, np.inf, np.inf, 0.0, 0.0])
    assert _native.sgd_epochs(1e10 * x, *arguments, 80, 80.0, 0.01, 2.0, progress) == 1
    assert progress[0] == np.inf


def test_shuffled_rows():
    orders = np.empty(3 * 50, dtype=np.int64)
    _native.shuffled_rows(np.array([1, 2, 1], dtype=np.uint64), orders)
    for seed, order in zip((1, 2, 1), orders.reshape(3, 50), strict=True):
        places = list(range(50))
        twin.splitmix_orders(seed)(places, 50)
        np.testing.assert_array_equal(order, places)
    with pytest.raises(ValueError, match="n entries per seed"):
        _native.shuffled_rows(np.array([1, 2], dtype=np.uint64), np.empty(3, dtype=np.int64))
