"""The bootstrap: against formulas, against SciPy, for any estimator; what fails is counted."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import thetahat as th
from thetahat.data.validation import as_source

RANDOM = np.random.default_rng(0)
N = 200
X = RANDOM.standard_normal((N, 3)) + 1.0
Y = X @ [1.0, -2.0, 0.0] + 3.0 + RANDOM.standard_normal(N)


class Mean(DecisionTreeRegressor):
    """A model whose coef_ is the mean of y: what textbooks bootstrap."""

    def fit(self, X, y, sample_weight=None):
        self.coef_ = np.atleast_1d(np.average(y, weights=sample_weight))
        self.intercept_ = 0.0
        return self


def mean_of(model):
    return model.coef_[0]


@pytest.mark.parametrize("resample", ["rows", "residuals"])
def test_standard_errors_of_least_squares_are_those_of_its_summary(resample):
    result = th.bootstrap(
        th.LinearRegression(), X, Y, n_resamples=400, resample=resample, random_state=1
    )
    summary = th.LinearRegression().fit(X, Y).summary()
    assert result.names == ("intercept", "x0", "x1", "x2")
    for place, line in enumerate(summary.coefficients):
        assert result.estimate[place] == pytest.approx(line.estimate)
        assert result.standard_error[place] == pytest.approx(line.standard_error, rel=0.2)
        assert result.low[place] == pytest.approx(line.low, abs=0.6 * line.standard_error)
        assert result.high[place] == pytest.approx(line.high, abs=0.6 * line.standard_error)


@pytest.mark.parametrize(
    ("kind", "theirs"), [("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")]
)
def test_intervals_as_scipy(kind, theirs):
    """A skewed sample, where the kinds differ; both draw resamples of their own."""
    y = np.random.default_rng(3).exponential(size=60)
    ours = th.bootstrap(
        Mean(), y[:, None], y, statistic=mean_of, kind=kind, n_resamples=2000, random_state=0
    )
    expected = stats.bootstrap(
        (y,), np.mean, method=theirs, n_resamples=4000, rng=np.random.default_rng(1)
    ).confidence_interval
    slack = 0.2 * ours.standard_error
    assert ours.low == pytest.approx(expected.low, abs=slack)
    assert ours.high == pytest.approx(expected.high, abs=slack)


def test_bca_by_its_formula():
    """From the replicates that were drawn, and the leave-one-out means."""
    y = np.random.default_rng(3).exponential(size=40)
    result = th.bootstrap(
        Mean(), y[:, None], y, statistic=mean_of, kind="bca", n_resamples=500, random_state=0
    )
    t, replicates = y.mean(), result.replicates
    left_out = np.array([np.delete(y, i).mean() for i in range(40)])
    d = left_out.mean() - left_out
    a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    z0 = stats.norm.ppf((replicates < t).mean())
    for bound, z in ((result.low, -1.959964), (result.high, 1.959964)):
        level = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        assert bound == pytest.approx(np.quantile(replicates, level), rel=1e-6)


def test_kinds_by_their_formulas():
    results = {
        kind: th.bootstrap(th.Ridge(), X, Y, kind=kind, n_resamples=100, random_state=0, level=0.8)
        for kind in ("percentile", "basic", "normal")
    }
    t, replicates = results["basic"].estimate, results["basic"].replicates
    low, high = np.quantile(replicates, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(results["percentile"].low, low)
    np.testing.assert_allclose(results["basic"].low, 2 * t - high)
    np.testing.assert_allclose(results["basic"].high, 2 * t - low)
    error, bias = replicates.std(axis=0, ddof=1), replicates.mean(axis=0) - t
    np.testing.assert_allclose(results["normal"].high, t - bias + 1.2815516 * error)
    np.testing.assert_allclose(results["normal"].bias, bias)


def test_weights_stand_for_rows_drawn_repeatedly():
    """A model without weights sees copies of the same rows: the same replicates."""
    weighted = th.bootstrap(th.Ridge(), X, Y, n_resamples=20, random_state=0)
    copied = th.bootstrap(make_pipeline(th.Ridge()), X, Y, n_resamples=20, random_state=0)
    np.testing.assert_allclose(weighted.replicates, copied.replicates, rtol=1e-9)
    assert copied.names == weighted.names


@pytest.mark.parametrize("threads", [2, 3])
def test_same_result_for_any_number_of_threads(threads):
    def run():
        return th.bootstrap(th.Ridge(), X, Y, kind="bca", n_resamples=30, random_state=5)

    with th.config(threads=1):
        one = run()
    with th.config(threads=threads):
        many = run()
    np.testing.assert_array_equal(one.replicates, many.replicates)
    np.testing.assert_array_equal(one.low, many.low)


def test_same_seed_same_resamples():
    runs = [th.bootstrap(th.Ridge(), X, Y, n_resamples=5, random_state=s) for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0].replicates, runs[1].replicates)
    assert not np.array_equal(runs[0].replicates, runs[2].replicates)


def test_whole_weights_are_rows_counted():
    random = np.random.default_rng(1)
    weight = random.integers(0, 4, N)
    rows = np.repeat(np.arange(N), weight)
    counted = th.bootstrap(th.Ridge(), X, Y, sample_weight=weight, n_resamples=300, random_state=0)
    repeated = th.bootstrap(th.Ridge(), X[rows], Y[rows], n_resamples=300, random_state=1)
    np.testing.assert_allclose(counted.estimate, repeated.estimate, rtol=1e-9)
    np.testing.assert_allclose(counted.standard_error, repeated.standard_error, rtol=0.25)


def test_other_weights_multiply_the_counts():
    random = np.random.default_rng(2)
    weight = random.uniform(0.1, 2.0, N)
    result = th.bootstrap(th.Ridge(), X, Y, sample_weight=weight, n_resamples=30, random_state=0)
    expected = th.Ridge().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(result.estimate[1:], expected.coef_)
    assert (result.standard_error > 0).all()


def test_penalised_models_that_refuse_a_summary():
    model = th.LinearModel(penalty=th.penalties.L1(0.3))
    result = th.bootstrap(model, X, Y, n_resamples=60, random_state=0)
    assert result.low[3] <= 0.0 <= result.high[3]
    assert result.high[2] < 0.0 < result.low[1]
    pursuit = th.bootstrap(
        th.OrthogonalMatchingPursuit(n_nonzero_coefs=2), X, Y, n_resamples=60, random_state=0
    )
    assert pursuit.estimate[3] == 0.0


def test_statistics_of_any_shape():
    points = X[:4]
    result = th.bootstrap(
        th.Ridge(), X, Y, statistic=lambda m: m.predict(points).reshape(2, 2), n_resamples=20,
        random_state=0,
    )  # fmt: skip
    assert result.estimate.shape == result.low.shape == (2, 2)
    assert result.replicates.shape == (20, 2, 2)
    assert result.names[3] == "statistic[1, 1]"


def test_tables_sparse_rows_lists_and_sources_give_the_same():
    import pandas

    expected = th.bootstrap(th.Ridge(), X, Y, n_resamples=10, random_state=0)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    for rows, targets in (
        (frame, pandas.Series(Y)),
        (sp.csr_array(X), Y),
        (X.tolist(), Y.tolist()),
        (as_source(X, Y), None),
    ):
        got = th.bootstrap(th.Ridge(), rows, targets, n_resamples=10, random_state=0)
        np.testing.assert_allclose(got.replicates, expected.replicates, rtol=1e-9)
    named = th.bootstrap(th.Ridge(), frame, Y, n_resamples=2, random_state=0)
    assert named.names == ("intercept", "a", "b", "c")


def test_resamples_of_one_class_are_counted_and_reported():
    labels = np.r_[np.ones(2), np.zeros(38)]
    result = th.bootstrap(LogisticRegression(), X[:40], labels, n_resamples=100, random_state=0)
    assert 3 < result.n_failed < 35
    assert len(result.replicates) == 100 - result.n_failed
    ((reason, count),) = result.failures.items()
    assert "1 of 2 classes" in reason
    assert f"{count} fits failed" in str(result)
    assert "fits failed" in result._repr_html_()


def test_a_scaler_before_the_model_is_fitted_each_time():
    pipeline = make_pipeline(StandardScaler(), th.Ridge(alpha=1.0))
    result = th.bootstrap(pipeline, X, Y, n_resamples=10, random_state=0)
    assert result.names == ("intercept", "x0", "x1", "x2")


def test_prints_as_a_table():
    result = th.bootstrap(th.Ridge(), X, Y, n_resamples=10, random_state=0)
    title, head, *lines = str(result).splitlines()
    assert "10 fits, percentile intervals at level 0.95" in title
    assert head.split() == ["estimate", "std.", "error", "bias", "[0.025", "0.975]"]
    assert [line.split()[0] for line in lines] == list(result.names)
    with pytest.raises(AttributeError):
        result.level = 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_resamples": 0}, "n_resamples=0 must be"),
        ({"n_resamples": 2.5}, "n_resamples=2.5"),
        ({"level": 0.0}, "level=0.0 must be a number strictly between"),
        ({"level": 1.0}, "level=1.0 must be a number strictly between"),
        ({"kind": "studentized"}, "one of 'percentile'"),
        ({"resample": "columns"}, "one of 'rows'"),
        ({"statistic": "slope"}, "'coef' or a function"),
        ({"statistic": lambda model: []}, "empty"),
        ({"model": DecisionTreeRegressor()}, "no coef_"),
        ({"resample": "residuals", "sample_weight": np.ones(N)}, "resample='rows'"),
        ({"resample": "residuals", "kind": "bca"}, "needs resample='rows'"),
        (
            {"model": make_pipeline(th.Ridge()), "sample_weight": np.ones(N)},
            "does not accept sample_weight",
        ),
        ({"sample_weight": -np.ones(N)}, "weight"),
    ],
)
def test_refusals(options, words):
    options = {"n_resamples": 4, "random_state": 0, **options}
    with pytest.raises(th.errors.ThetahatError, match=words):
        th.bootstrap(options.pop("model", th.Ridge()), X, Y, **options)


def test_when_every_fit_fails_the_reason_is_given():
    calls = []

    def only_once(model):
        calls.append(model)
        if len(calls) > 1:
            raise RuntimeError("no more")
        return 1.0

    with pytest.raises(th.errors.DataError, match=r"5 of 5 fits failed \(RuntimeError: no more\)"):
        th.bootstrap(th.Ridge(), X, Y, statistic=only_once, n_resamples=5)
