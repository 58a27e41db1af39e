"""Bins: order is kept, weights count rows, few values stay apart."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.bins import Bins, bins_of_categories
from thetahat.data.in_memory import InMemory
from thetahat.data.summaries import quantiles
from thetahat.data.summaries.quantiles import QuantileSummary, distinct


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_a_cut_divides_values_as_it_divides_codes(max_bins):
    random = np.random.default_rng(1)
    X = random.standard_normal((2000, 3))
    X[::9, 1] = np.nan
    bins = Bins.learn(X, max_bins=max_bins)
    codes = bins.codes(X).by_column
    for j, cuts in enumerate(bins.cuts):
        there = ~np.isnan(X[:, j])
        for c, cut in enumerate(cuts):
            np.testing.assert_array_equal(X[there, j] <= cut, codes[j, there] <= c)
        assert (codes[j, ~there] == bins.n_bins[j]).all()
        counts = np.bincount(codes[j, there])
        assert len(counts) == max_bins
        assert counts.max() - counts.min() <= 2


def test_few_distinct_values_stay_apart_and_heavy_ones_take_one_bin():
    random = np.random.default_rng(2)
    few = random.integers(0, 200, 5000).astype(float)
    heavy = np.where(random.random(5000) < 0.9, 0.0, random.standard_normal(5000))
    bins = Bins.learn(np.column_stack([few, heavy]))
    assert len(bins.cuts[0]) == 199
    assert bins.n_bins[1] == 255
    codes = bins.codes(heavy[:, None] * [0.0, 1.0]).by_column[1]
    assert set(heavy[codes == codes[heavy == 0.0][0]].tolist()) == {0.0}


def test_weights_count_rows():
    random = np.random.default_rng(3)
    X = random.standard_normal((900, 2))
    X[5] = np.nan
    weight = random.integers(0, 4, 900)
    weighted = Bins.learn(X, weight.astype(float), max_bins=20)
    repeated = Bins.learn(np.repeat(X, weight, axis=0), max_bins=20)
    for a, b in zip(weighted.cuts, repeated.cuts, strict=True):
        np.testing.assert_array_equal(a, b)


def test_more_categories_than_bins_let_the_rarest_share_one():
    column = np.concatenate([np.arange(300), np.repeat(np.arange(250, 260), 5)]).astype(float)
    lookup = Bins.learn(column[:, None], max_bins=20, categorical=[0]).categories[0]
    assert len(lookup) == 300
    assert set(lookup[250:260]) == set(lookup.tolist()) - {19} - set(lookup[:9].tolist())
    assert np.bincount(lookup)[:19].tolist() == [1] * 19
    assert bins_of_categories(distinct(column), 300, 255)[-1] == 254


def test_columns_of_nothing_have_one_bin():
    X = np.column_stack([np.full(6, np.nan), np.full(6, 2.0)])
    bins = Bins.learn(X)
    assert bins.n_bins.tolist() == [1, 1]
    assert bins.codes(X).by_column.tolist() == [[1] * 6, [0] * 6]
    assert Bins.learn(X, categorical=[0]).n_bins.tolist() == [1, 1]


def test_a_summary_of_few_rows_gives_the_same_bins():
    random = np.random.default_rng(4)
    X = random.standard_normal((7000, 2))
    X[:, 1] = np.round(X[:, 1], 1)
    weight = random.random(7000)
    source = InMemory(X=X, weight=weight, n_features=2)
    whole = source.reduce(QuantileSummary.of)
    for a, b in zip(Bins.from_summary(whole).cuts, Bins.learn(X, weight).cuts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_thinned_summaries_keep_ranks(monkeypatch):
    random = np.random.default_rng(5)
    monkeypatch.setattr(quantiles, "CAPACITY", 256)
    x = random.standard_normal((60_000, 1))
    for blocks in (np.array_split(x, 50), np.array_split(np.sort(x, axis=0), 50)):
        sources = [InMemory(X=block, n_features=1) for block in blocks]
        whole = sources[0].reduce(QuantileSummary.of)
        for source in sources[1:]:
            whole = whole.merge(source.reduce(QuantileSummary.of))
        kept = whole.column(0)
        assert kept.weights.sum() == pytest.approx(60_000)
        ranks = np.searchsorted(np.sort(x[:, 0]), kept.values, side="right")
        assert np.abs(np.cumsum(kept.weights) - ranks).max() <= 60_000 * 8 / 256


def test_the_same_codes_on_any_number_of_threads():
    random = np.random.default_rng(6)
    X = random.standard_normal((30_000, 5)).astype(np.float32)
    answers = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            answers.append(Bins.learn(X).codes(X).by_row)
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
