"""Views of a source: the same from memory and from a stream, lazy, and fit to be sent elsewhere."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from tests.data.chunked import Chunked, OnlyBlocks
from thetahat.data import views
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_source

N, D = 1500, 3


def rows():
    random = np.random.default_rng(0)
    return random.standard_normal((N, D)), (np.arange(N) % 3).astype(np.float64)


def streamed(X, y):
    facts = dict(n_features=D, n_outputs=0 if y.ndim == 1 else y.shape[1], has_target=True)
    return OnlyBlocks(rows=Chunked(X=X, y=y, **facts), **facts)


def two_columns(y):
    return np.column_stack([y, -y])


def by_first_column(block):
    return abs(block.X[:, 0])


VIEWS = {
    "one_target": (
        lambda source: views.one_target(source, 1),
        lambda X, y: (X, y[:, 1], None),
    ),
    "one_against_rest": (
        lambda source: views.one_against_rest(source, 2),
        lambda X, y: (X, np.where(y == 2, 1, -1), None),
    ),
    "sign_targets of three": (
        lambda source: views.sign_targets(source, 3),
        lambda X, y: (X, np.where(y[:, None] == [0, 1, 2], 1, -1), None),
    ),
    "sign_targets of two": (
        lambda source: views.sign_targets(source, 2),
        lambda X, y: (X, np.where(y == 1, 1, -1), None),
    ),
    "relabelled": (
        lambda source: views.relabelled(source, LabelEncoding([2.0, 1.0, 0.0]))[0],
        lambda X, y: (X, 2 - y, None),
    ),
    "reweighted": (
        lambda source: views.reweighted(source, by_first_column),
        lambda X, y: (X, y, abs(X[:, 0])),
    ),
    "in_target_units": (
        lambda source: views.in_target_units(source, 4.0),
        lambda X, y: (X, y / 4, None),
    ),
    "shifted": (
        lambda source: views.shifted(source, np.arange(3.0)),
        lambda X, y: (X - np.arange(3.0), y, None),
    ),
    "rescaled": (
        lambda source: views.rescaled(
            source, np.arange(3.0), np.full(3, 2.0), np.ones(1), np.full(1, 4.0)
        ),
        lambda X, y: ((X - np.arange(3.0)) / 2, (y - 1) / 4, None),
    ),
    "rescaled columns alone": (
        lambda source: views.rescaled(source, None, np.full(3, 2.0), None, None),
        lambda X, y: (X / 2, y, None),
    ),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("where", ["memory", "stream"])
def test_views_change_what_they_say_and_nothing_else(name, where):
    view_of, expected = VIEWS[name]
    X, y = rows()
    y = two_columns(y) if name == "one_target" else y
    view = view_of(as_source(X, y) if where == "memory" else streamed(X, y))
    assert isinstance(view, InMemory) == (where == "memory" and "rescaled" not in name)
    wanted = expected(X, y)
    assert view.n_rows == N
    assert view.n_outputs == (0 if wanted[1].ndim == 1 else wanted[1].shape[1])
    assert view.has_weight == (wanted[2] is not None)
    for pass_over_rows in (view, pickle.loads(pickle.dumps(view))):
        blocks = list(pass_over_rows.blocks())
        for part, whole in zip(("X", "y", "weight"), wanted, strict=True):
            found = [getattr(block, part) for block in blocks]
            if whole is None:
                assert found == [None] * len(blocks)
            else:
                np.testing.assert_array_equal(np.concatenate(found), whole)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_columns_that_do_not_change_are_not_copied(kind):
    X, y = rows()
    source = as_source(kind(X), y)
    for view in (views.in_target_units(source, 2.0), views.one_against_rest(source, 1)):
        assert view.X is source.X


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    X, y = rows()
    np.save(tmp_path / "x.npy", X)
    source = as_source(np.load(tmp_path / "x.npy", mmap_mode="r"), y)
    assert isinstance(views.in_target_units(source, 2.0).X, np.memmap)
    view = views.shifted(source, np.ones(D))
    assert isinstance(view, views.View)
    np.testing.assert_array_equal(view.map_rows(lambda block: block.X), X - 1)


def test_blocks_are_mapped_when_they_are_read():
    X, y = rows()
    seen = []

    def change(block):
        seen.append(block.start)
        return block

    blocks = views.View.of(streamed(X, y), change).blocks()
    assert seen == []
    next(blocks)
    assert seen == [0]


def test_weights_multiply_and_are_worked_out_anew_where_lazy():
    X, y = rows()
    calls = []

    def factor(block, calls):
        calls.append(block.start)
        return np.full(block.n_rows, 2.0)

    source = as_source(X, y, np.arange(N) + 1.0)
    view = views.reweighted(source, partial(factor, calls=calls), lazy=True)
    assert not calls
    np.testing.assert_array_equal(
        view.map_rows(lambda block: block.weight), 2 * (np.arange(N) + 1.0)
    )
    assert calls


def test_classes_are_found_in_one_pass():
    X, y = rows()
    view, encoding = views.relabelled(streamed(X, 10 * y))
    np.testing.assert_array_equal(encoding.classes, [0, 10, 20])
    np.testing.assert_array_equal(view.map_rows(lambda block: block.y), y)


@pytest.mark.parametrize("rows", [slice(0, 4), slice(3, 9), slice(5, None), slice(7, 7)], ids=str)
def test_blocks_of_sparse_rows_share_their_memory(rows):
    X = sp.random_array((12, 5), density=0.4, rng=0, format="csr")
    block = InMemory(X=X, n_features=5).whole.take(rows)
    assert type(block.X) is type(X)
    assert np.array_equal(block.X.toarray(), X.toarray()[rows])
    assert block.X.nnz == 0 or np.shares_memory(block.X.data, X.data)
