"""Rows by number, and targets in another unit: the same from memory and from a stream."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.test_conformance import Chunked, OnlyBlocks
from thetahat.data.validation import as_source
from thetahat.data.views.chosen_rows import chosen_rows
from thetahat.data.views.retargeted import in_target_units
from thetahat.data.views.shifted import shifted_to_middle

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((1500, 3)), RANDOM.standard_normal(1500)
NUMBERS = np.array([1400, 3, 700, 3, 612, 613])


def streamed():
    rows = Chunked(X=X, y=Y, n_features=3, has_target=True)
    return OnlyBlocks(rows=rows, n_features=3, has_target=True)


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_rows_come_in_the_order_asked_for(where):
    rows = chosen_rows(as_source(X, Y) if where == "memory" else streamed(), NUMBERS)
    np.testing.assert_array_equal(rows.X, X[NUMBERS])
    np.testing.assert_array_equal(rows.y, Y[NUMBERS])
    assert rows.weight is None


def test_sparse_rows_stay_sparse_and_weights_follow():
    rows = chosen_rows(as_source(sp.csr_array(X), Y, np.arange(1500.0)), NUMBERS)
    np.testing.assert_array_equal(rows.X.toarray(), X[NUMBERS])
    np.testing.assert_array_equal(rows.weight, NUMBERS)


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_targets_in_another_unit(where):
    source = as_source(X, Y) if where == "memory" else streamed()
    view = in_target_units(source, 4.0)
    assert view.n_rows == 1500
    np.testing.assert_array_equal(view.map_rows(lambda block: block.y), Y / 4.0)
    np.testing.assert_array_equal(view.map_rows(lambda block: block.X), X)


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_far_columns_are_seen_from_near(where):
    far = X + np.array([0.0, 1e6, -1e5])
    rows = Chunked(X=far, y=Y, n_features=3, has_target=True)
    stream = OnlyBlocks(rows=rows, n_features=3, has_target=True)
    source = as_source(far, Y) if where == "memory" else stream
    view, origin = shifted_to_middle(source, fit_intercept=True)
    assert origin[0] == 0.0
    np.testing.assert_allclose(origin[1:], [1e6, -1e5], rtol=1e-4)
    np.testing.assert_array_equal(view.map_rows(lambda block: block.X), far - origin)
    np.testing.assert_array_equal(view.map_rows(lambda block: block.y), Y)
    assert view.n_rows == 1500
    same, nowhere = shifted_to_middle(source, fit_intercept=False)
    assert same is source
    assert not nowhere.any()
    assert shifted_to_middle(as_source(X, Y), fit_intercept=True)[0].X is X
