"""Histograms: worked numbers, grids, weights, samples, refusals."""

import pickle

import numpy as np
import pytest

import thetahat as th
from tests.models.density.density_cases import blobs, integral
from thetahat.errors import CapabilityError, DataError, MemoryBudgetError, ParameterError

RULES = ["scott", "freedman_diaconis", "shimazaki_shinomoto", "cross_validation"]


def draw(n, d=1, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_heights_and_bins():
    x = np.array([0.0, 0.1, 0.3, 0.9, 1.0])
    model = th.Histogram(bins=4).fit(x[:, None])
    np.testing.assert_array_equal(model.counts(), [2, 1, 0, 2])
    np.testing.assert_allclose(model.heights(), np.array([2, 1, 0, 2]) / (5 * 0.25))
    assert (model.heights() * 0.25).sum() == pytest.approx(1)  # Σ p̂_l Δx = 1
    # l = ⌊(x − x_min)/Δx⌋, and the largest number belongs to the last bin.
    wanted = np.minimum((x / 0.25).astype(int), 3)
    np.testing.assert_array_equal(model.bin_index(x[:, None])[:, 0], wanted)
    np.testing.assert_allclose(np.exp(model.log_density(x[:, None])), model.heights()[wanted])


@pytest.mark.parametrize("bins", [7, *RULES])
def test_same_heights_as_numpy(bins):
    x = draw(400)
    model = th.Histogram(bins=bins).fit(x)
    heights, edges = np.histogram(x, bins=model.bin_edges_[0], density=True)
    np.testing.assert_allclose(model.heights(), heights, rtol=1e-12)
    assert model.n_cells_ == len(edges) - 1
    assert integral(model, [edges[0]], [edges[-1]], 20_000) == pytest.approx(1, abs=1e-3)


def test_dice_have_discrete_counts():
    thrown = np.array([1, 3, 3, 6, 6, 6])
    model = th.Histogram(discrete=True, bounds=[(1, 6)]).fit(thrown[:, None])
    np.testing.assert_array_equal(model.counts(), [1, 0, 2, 0, 0, 3])
    np.testing.assert_allclose(np.exp(model.log_density(np.arange(8)[:, None])),
                               np.array([0, 1, 0, 2, 0, 0, 3, 0]) / 6)  # fmt: skip
    assert model.log_density([[2.5]])[0] == -np.inf
    drawn = model.sample(3000, random_state=0)[:, 0]
    assert set(drawn) == {1.0, 3.0, 6.0}
    assert (drawn == 6).mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(model.cdf([0.5, 1.0, 3.7, 6.0]), [0, 1 / 6, 0.5, 1])
    np.testing.assert_array_equal(model.quantile([0.0, 0.1, 0.5, 0.6, 1.0]), [1, 1, 3, 6, 6])


def test_heights_minimise_the_integrated_squared_error():
    """∫(p̂ − p*)² = Σ p̂²V − 2·Σ p̂·N_l/N + ∫p*², whose best heights are those of the histogram."""
    model = th.Histogram(bins=8).fit(draw(200))
    share, width = model.counts() / 200, np.diff(model.bin_edges_[0])

    def error(heights):
        return (heights**2 * width).sum() - 2 * (heights * share).sum()

    best = error(model.heights())
    assert best == pytest.approx(model.error_score_, rel=1e-12)
    assert model.error_score_ == pytest.approx(-(model.heights() ** 2 * width).sum(), rel=1e-12)
    random = np.random.default_rng(0)
    for _ in range(20):
        assert error(model.heights() + 0.01 * random.standard_normal(8)) > best


@pytest.mark.parametrize("rule", RULES)
def test_rules_give_the_widths_of_binning(rule):
    x = draw(500)
    width = getattr(th.binning, rule)(x[:, 0])
    model = th.Histogram(bins=rule).fit(x)
    assert model.n_cells_ == np.ceil(np.ptp(x) / width * (1 - 1e-9))
    np.testing.assert_allclose(model.bin_edges_[0][[0, -1]], [x.min(), x.max()], rtol=1e-6)


def test_product_grid_is_mostly_empty():
    X = draw(1000, 3)
    model = th.Histogram(bins=10).fit(X)
    counts, edges = np.histogramdd(X, bins=10)
    np.testing.assert_array_equal(model.counts(), counts)
    assert model.n_cells_ == 1000
    assert model.emptiness_ == np.mean(counts == 0) > 0.5
    volume = np.prod([np.ptp(each) / 10 for each in edges])
    np.testing.assert_allclose(model.heights(), counts / 1000 / volume)
    assert -model.error_score_ == pytest.approx(((counts / 1000) ** 2).sum() / volume)


def test_grid_of_many_columns_keeps_occupied_cells_only():
    X = draw(200, 30)
    model = th.Histogram(bins=10).fit(X)
    assert model.n_cells_ == 10**30
    assert model.emptiness_ > 1 - 1e-12
    volume = np.log(np.ptp(X, axis=0) / 10).sum()
    np.testing.assert_allclose(model.log_density(X), -np.log(200) - volume, rtol=1e-10)
    assert (model.log_density(draw(50, 30, 1)) == -np.inf).all()
    assert np.isfinite(model.log_density(model.sample(20, random_state=0))).all()
    with pytest.raises(MemoryBudgetError, match="cells"):
        model.counts()


def test_factorised_grid_is_a_product():
    X = blobs(500)
    model = th.Histogram(bins=10, factorised=True).fit(X)
    alone = [th.Histogram(bins=10).fit(X[:, [j]]) for j in range(2)]
    wanted = sum(each.log_density(X[:, [j]]) for j, each in enumerate(alone))
    np.testing.assert_allclose(model.log_density(X), wanted, rtol=1e-12)
    assert model.n_cells_ == 20
    assert model.error_score_ == pytest.approx(-np.prod([each.error_score_ for each in alone]))
    with pytest.raises(CapabilityError, match="factorised"):
        model.heights()


def test_joint_rules_choose_one_number_for_all_columns():
    X = blobs(2000)
    for rule in RULES[2:]:
        shape = th.Histogram(bins=rule).fit(X).counts().shape
        assert shape[0] == shape[1]
        assert 8 <= shape[0] <= 45


@pytest.mark.parametrize("bins", [5, *RULES])
@pytest.mark.parametrize("factorised", [False, True])
def test_weights_are_repetitions(bins, factorised):
    X, weight = draw(80, 2), np.random.default_rng(1).integers(0, 4, 80)
    given = {"bins": bins, "factorised": factorised, "smoothing": 0.5}
    weighted = th.Histogram(**given).fit(X, sample_weight=weight)
    repeated = th.Histogram(**given).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.log_density(X), repeated.log_density(X), rtol=1e-10)


def test_smoothing_fills_empty_cells():
    model = th.Histogram(bins=4, smoothing=1.0).fit([[0.0], [0.1], [1.0]])
    np.testing.assert_allclose(model.heights(), np.array([3, 1, 1, 2]) / (7 * 0.25))
    assert -model.error_score_ == pytest.approx((model.heights() ** 2).sum() / 4)
    drawn = model.sample(5000, random_state=0)[:, 0]
    found = np.histogram(drawn, bins=4, range=(0, 1))[0] / 5000
    np.testing.assert_allclose(found, np.array([3, 1, 1, 2]) / 7, atol=0.03)


def test_outside_the_range_and_in_empty_bins_the_density_is_zero():
    model = th.Histogram(bins=4).fit([[0.0], [0.1], [1.0]])
    logs = model.log_density([[0.4], [-0.01], [1.01], [1.0]])
    np.testing.assert_array_equal(logs == -np.inf, [True, True, True, False])
    assert model.score([[0.05]]) > 0
    np.testing.assert_array_equal(model.bin_index([[-1.0], [0.0], [2.0]])[:, 0], [-1, 0, -1])
    wide = th.Histogram(bins=4, margin=0.5, smoothing=1.0).fit([[0.0], [0.1], [1.0]])
    assert np.isfinite(wide.log_density([[-0.4], [1.4]])).all()


def test_distribution_function_and_quantiles():
    x = draw(300)
    model = th.Histogram(bins=12).fit(x)
    edges = model.bin_edges_[0]
    np.testing.assert_allclose(model.cdf(edges), [np.mean(x < e) for e in edges[:-1]] + [1.0])
    q = np.linspace(0, 1, 50)
    np.testing.assert_allclose(model.cdf(model.quantile(q)), q, atol=1e-12)
    assert model.cdf([-100.0, 100.0]).tolist() == [0, 1]
    with pytest.raises(ParameterError, match="must lie in"):
        model.quantile([1.5])
    with pytest.raises(DataError, match="one column"):
        th.Histogram(bins=3).fit(draw(9, 2)).cdf(0.0)


def test_samples_follow_the_density():
    model = th.Histogram(bins=[[0.0, 1.0, 4.0]]).fit([[0.5], [0.6], [0.7], [3.0]])
    drawn = model.sample(4000, random_state=0)[:, 0]
    assert (drawn < 1).mean() == pytest.approx(0.75, abs=0.03)
    assert drawn[drawn > 1].mean() == pytest.approx(2.5, abs=0.1)


def test_edges_of_each_column():
    X = blobs(100)
    model = th.Histogram(bins=[np.linspace(-9, 9, 4), 5]).fit(X)
    assert [len(each) - 1 for each in model.bin_edges_] == [3, 5]
    assert model.bin_edges_[0].tolist() == [-9, -3, 3, 9]


def test_pickle_file_and_single_precision(tmp_path):
    X = blobs(100).astype(np.float32)
    model = th.Histogram(bins=6).fit(X)
    assert model.log_density(X).dtype == model.sample(2).dtype == np.float32
    th.save(model, tmp_path / "model.theta")
    for copy in (pickle.loads(pickle.dumps(model)), th.load(tmp_path / "model.theta")):
        np.testing.assert_array_equal(copy.log_density(X), model.log_density(X))


@pytest.mark.parametrize("wrong", [
    {"bins": 0}, {"bins": "sturges"}, {"bins": 2.5}, {"bins": [1.0]}, {"bins": [2.0, 1.0, 3.0]},
    {"bins": [[0.0, np.nan]]}, {"bounds": [(1, 1)]}, {"bounds": [(2, 1)]}, {"smoothing": -1},
    {"bounds": [(0, 1), (0, 1)]}, {"margin": -1},
])  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        th.Histogram(**wrong).fit(draw(10))


def test_bad_rows_are_refused():
    with pytest.raises(DataError, match="single value"):
        th.Histogram().fit(np.ones((5, 1)))
    with pytest.raises(DataError, match="NaN"):
        th.Histogram().fit([[0.0], [np.nan]])
    with pytest.raises(DataError, match="outside the bounds"):
        th.Histogram(bounds=[(0, 1)]).fit([[0.5], [2.0]])
    with pytest.raises(DataError, match="outside the edges"):
        th.Histogram(bins=[0.0, 1.0]).fit([[0.5], [2.0]])
    with pytest.raises(DataError, match="whole numbers"):
        th.Histogram(discrete=True).fit([[0.5], [2.0]])
    with pytest.raises(DataError, match="sum to"):
        th.Histogram(bins="cross_validation").fit([[0.5], [2.0]], sample_weight=[0.1, 0.1])


def test_more_cells_than_memory_are_refused():
    with pytest.raises(MemoryBudgetError, match="cells"):
        th.Histogram(bins=10**13).fit(draw(10))
    # An outlier makes the range 10¹⁵ times the width.
    with pytest.raises(MemoryBudgetError, match="cells"):
        th.Histogram().fit(np.concatenate([draw(1000), [[1e16]]]))


def test_the_memory_of_many_bins_is_counted():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(th.errors.MemoryBudgetError, match=r"with 3e\+12 cells"):
        th.Histogram(bins=10**12, factorised=True).fit(X)
    with pytest.raises(th.errors.MemoryBudgetError, match=r"with 1e\+36 cells"):
        th.Histogram(bins=10**12).fit(X)
    edges = 8 * 3 * 10**5
    with th.config(memory=1.5 * edges), pytest.raises(th.errors.MemoryBudgetError, match="edges"):
        th.Histogram(bins=10**5, factorised=True).fit(X)


def test_many_bins_take_little_more_memory_than_their_edges():
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(30, 3))
    model = th.Histogram(bins=10**5, factorised=True)
    tracemalloc.start()
    model.fit(X).log_density(X)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 8 * (3 + 3) * 10**5


@pytest.mark.parametrize(
    "model",
    [
        th.Histogram(bins=[[0, 1], [0, 9]]),
        th.Histogram(bounds=[(0, 1), (0, 9)]),
        th.Histogram(discrete=True),
        th.DensityTree(bounds=[(0, 1), (0, 9)]),
    ],
)
def test_errors_name_rows_as_they_were_given(model):
    """Rows of weight 0 are left out of the fit, but count in the numbers of rows."""
    X = np.array([[0.0, 1], [0.25, 2], [1, 1], [1.5, 3], [0, 0]])
    weight = [1, 0, 1, 1, 1]
    with pytest.raises(DataError, match="row 3"):
        model.fit(X, sample_weight=weight)
