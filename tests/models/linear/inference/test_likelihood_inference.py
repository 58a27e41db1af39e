"""Wald and likelihood-ratio inference of generalised linear models, against statsmodels."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import statsmodels.api

import thetahat as th
from tests.repeats import repeated

RANDOM = np.random.default_rng(0)
X = np.array([0.0, 2.0, -1.0]) + RANDOM.standard_normal((250, 3))
Z = X @ [0.6, -0.4, 0.2] + 0.9
COUNTS = RANDOM.poisson(np.exp(Z)).astype(float)
BINARY = (RANDOM.uniform(size=250) < 1 / (1 + np.exp(-Z))).astype(float)
CLASSES = (X[:, 0] + RANDOM.gumbel(size=(3, 250)) * 2).argmax(axis=0).astype(float)
REAL = Z + RANDOM.standard_normal(250)
WEIGHT = RANDOM.integers(0, 4, 250)
FAMILIES = {
    "poisson": (COUNTS, statsmodels.api.families.Poisson()),
    "logistic": (BINARY, statsmodels.api.families.Binomial()),
    "squared": (REAL, statsmodels.api.families.Gaussian()),
}


def model_of(loss, **options):
    return th.LinearModel(loss, "none", tol=1e-11, **options)


def column(summary, field):
    return np.array([getattr(line, field) for line in summary.coefficients])


def design(rows, intercept):
    return statsmodels.api.add_constant(rows) if intercept else rows


@pytest.mark.parametrize("loss", FAMILIES)
@pytest.mark.parametrize("intercept", [True, False])
def test_summary_equals_statsmodels(loss, intercept):
    y, family = FAMILIES[loss]
    model = model_of(loss, fit_intercept=intercept).fit(X, y)
    summary = model.summary(level=0.9)
    peer = statsmodels.api.GLM(y, design(X, intercept), family=family).fit(
        tol=1e-13, use_t=loss == "squared"
    )
    np.testing.assert_allclose(column(summary, "estimate"), peer.params, rtol=1e-7)
    np.testing.assert_allclose(column(summary, "standard_error"), peer.bse, rtol=1e-6)
    np.testing.assert_allclose(column(summary, "t"), peer.tvalues, rtol=1e-6)
    np.testing.assert_allclose(column(summary, "p"), peer.pvalues, rtol=1e-5, atol=1e-300)
    bounds = np.column_stack([column(summary, "low"), column(summary, "high")])
    np.testing.assert_allclose(bounds, peer.conf_int(0.1), rtol=1e-5)
    assert summary.deviance == pytest.approx(peer.deviance)
    assert summary.degrees_of_freedom == peer.df_resid
    if loss == "squared":  # statsmodels' GLM takes the unbiased variance for its likelihood
        peer = statsmodels.api.OLS(y, design(X, intercept)).fit()
        assert summary.bic == pytest.approx(peer.bic)
    else:
        assert summary.bic == pytest.approx(peer.bic_llf)
    assert summary.log_likelihood == pytest.approx(peer.llf)
    assert summary.aic == pytest.approx(peer.aic)


@pytest.mark.parametrize(
    ("loss", "make"),
    [("logistic", statsmodels.api.Logit), ("poisson", statsmodels.api.Poisson)],
    ids=["logistic", "poisson"],
)
def test_null_model_equals_statsmodels(loss, make):
    y = FAMILIES[loss][0]
    summary = model_of(loss).fit(X, y).summary()
    peer = make(y, design(X, True)).fit(disp=False)
    assert summary.null_log_likelihood == pytest.approx(peer.llnull)
    assert summary.pseudo_r2 == pytest.approx(peer.prsquared)
    assert summary.likelihood_ratio.statistic == pytest.approx(peer.llr)
    assert summary.likelihood_ratio.p == pytest.approx(peer.llr_pvalue)
    assert summary.likelihood_ratio.degrees_of_freedom == 3


def test_no_intercept_has_a_null_model_without_one():
    summary = model_of("logistic", fit_intercept=False).fit(X, BINARY).summary()
    assert summary.null_log_likelihood == pytest.approx(250 * np.log(0.5))
    assert summary.likelihood_ratio.degrees_of_freedom == 3


def test_several_classes_against_the_first():
    summary = model_of("softmax_cross_entropy").fit(X, CLASSES).summary()
    peer = statsmodels.api.MNLogit(CLASSES, design(X, True)).fit(disp=False, tol=1e-12)
    np.testing.assert_allclose(
        column(summary, "estimate").reshape(2, 4), np.transpose(peer.params), rtol=1e-5, atol=1e-8
    )
    np.testing.assert_allclose(
        column(summary, "standard_error").reshape(2, 4), np.transpose(peer.bse), rtol=1e-6
    )
    assert summary.log_likelihood == pytest.approx(peer.llf)
    assert summary.null_log_likelihood == pytest.approx(peer.llnull)
    assert summary.likelihood_ratio.p == pytest.approx(peer.llr_pvalue)
    assert summary.coefficients[4].name == "2: (intercept)"


def test_nested_models():
    large = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-10).fit(X, COUNTS)
    small = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-10).fit(X[:, :1], COUNTS)
    test = large.likelihood_ratio_test(small)
    peers = [
        statsmodels.api.Poisson(COUNTS, design(rows, True)).fit(disp=False)
        for rows in (X, X[:, :1])
    ]
    assert test.statistic == pytest.approx(2 * (peers[0].llf - peers[1].llf))
    assert test.degrees_of_freedom == 2
    assert 0 < test.p < 1e-4
    with pytest.raises(th.errors.DataError, match="not nested"):
        small.likelihood_ratio_test(large)
    with pytest.raises(th.errors.DataError, match="same rows and the same loss"):
        large.likelihood_ratio_test(model_of("logistic").fit(X[:, :1], BINARY))


def test_a_ratio_of_unlike_fits_is_refused():
    def fitted(rows, y=COUNTS, weight=None, alpha=0.0, **options):
        model = th.PoissonRegressor(alpha=alpha, solver="newton", tol=1e-10, **options)
        return model.fit(rows, y, weight)

    large = fitted(X)
    with pytest.raises(th.errors.DataError, match=r"250 rows of total weight 250.* 249 rows"):
        large.likelihood_ratio_test(fitted(X[1:, :1], COUNTS[1:]))
    weight = np.random.default_rng(1).uniform(0.5, 1.5, 250)
    weight *= 250 / weight.sum()
    for rows, other, weights in (
        (X[:, :1], COUNTS[::-1], None),
        (X[:, :1], COUNTS + 1, None),
        (X[:, :1], COUNTS, weight),
    ):
        with pytest.raises(th.errors.DataError, match="same rows, weights and targets"):
            large.likelihood_ratio_test(fitted(rows, other, weights))
    with pytest.warns(UserWarning, match=r"1 column\(s\) of the smaller .*not nested"):
        fitted(X[:, :2]).likelihood_ratio_test(fitted(X[:, 2:]))
    with pytest.raises(th.errors.CapabilityError, match="penalised"):
        large.likelihood_ratio_test(fitted(X[:, :1], alpha=0.1))
    for other in (th.LinearRegression().fit(X, REAL), "model", None):
        with pytest.raises(th.errors.ParameterError, match="fewer columns"):
            large.likelihood_ratio_test(other)
    assert large.likelihood_ratio_test(fitted(X[:, 1:], fit_intercept=False)).p < 1e-4


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_ratio_of_the_same_columns_in_another_order_or_form(offset):
    rows = X - X.mean(axis=0) + offset  # sums of x that are only rounding
    large = model_of("poisson").fit(rows, COUNTS, WEIGHT)
    small = model_of("poisson").fit(rows[:, [2, 0]], COUNTS, WEIGHT)
    expected = large.likelihood_ratio_test(small).statistic
    sparse = model_of("poisson").fit(scipy.sparse.csr_array(rows - offset), COUNTS, WEIGHT)
    few = model_of("poisson").fit(rows[:, [0, 2]] - offset, COUNTS, WEIGHT)
    assert sparse.likelihood_ratio_test(few).statistic == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("loss", ["poisson", "logistic"])
def test_robust_covariances(loss):
    y, family = FAMILIES[loss]
    model = model_of(loss).fit(X, y)
    peer = statsmodels.api.GLM(y, design(X, True), family=family).fit(tol=1e-13, cov_type="HC0")
    found = {
        kind: column(model.summary(X, y, covariance=kind), "standard_error")
        for kind in ("HC0", "HC1", "HC2", "HC3")
    }
    np.testing.assert_allclose(found["HC0"], peer.bse, rtol=1e-6)
    np.testing.assert_allclose(found["HC1"], peer.bse * np.sqrt(250 / 246), rtol=1e-6)
    # The peer gives HC0 for all kinds: the others by hand, from its leverages.
    leverage = peer.get_influence().hat_matrix_diag
    rows, mean = design(X, True), peer.fittedvalues
    curvature = mean if loss == "poisson" else mean * (1 - mean)
    bread = np.linalg.inv(rows.T @ (rows * curvature[:, None]))
    for kind, power in (("HC2", 1), ("HC3", 2)):
        squares = (y - mean) ** 2 / (1 - leverage) ** power
        expected = bread @ (rows.T @ (rows * squares[:, None])) @ bread
        np.testing.assert_allclose(found[kind] ** 2, np.diagonal(expected), rtol=1e-6)


def test_weights_count_rows():
    rows = np.repeat(np.arange(250), WEIGHT)
    weighted = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-10).fit(X, COUNTS, WEIGHT)
    repeated = th.PoissonRegressor(alpha=0.0, solver="newton", tol=1e-10)
    repeated.fit(X[rows], COUNTS[rows])
    for kind in ("model", "HC0", "HC1", "HC2", "HC3"):
        ours = weighted.summary(X, COUNTS, WEIGHT, covariance=kind)
        theirs = repeated.summary(X[rows], COUNTS[rows], covariance=kind)
        np.testing.assert_allclose(
            column(ours, "standard_error"), column(theirs, "standard_error"), rtol=1e-7
        )
    for field in ("log_likelihood", "null_log_likelihood", "deviance", "bic"):
        assert getattr(ours, field) == pytest.approx(getattr(theirs, field))


def test_rows_in_a_file_and_sparse_rows(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X, COUNTS]))
    source = th.scan(tmp_path / "rows.npy", target=3)
    expected = model_of("poisson").fit(X, COUNTS)
    for rows in ((source,), (scipy.sparse.csr_array(X), COUNTS)):
        model = model_of("poisson").fit(*rows)
        for kind in ("model", "HC3"):
            np.testing.assert_allclose(
                column(model.summary(*rows, covariance=kind), "standard_error"),
                column(expected.summary(X, COUNTS, covariance=kind), "standard_error"),
                rtol=1e-7,
            )


@pytest.mark.parametrize("loss", FAMILIES)
def test_intervals_of_the_mean_equal_statsmodels(loss):
    y, family = FAMILIES[loss]
    model = model_of(loss).fit(X, y)
    peer = statsmodels.api.GLM(y, design(X, True), family=family).fit(
        tol=1e-13, use_t=loss == "squared"
    )
    frame = peer.get_prediction(design(X, True)[:9]).summary_frame(0.1)
    low, high = model.predict_interval(X[:9], level=0.9)
    np.testing.assert_allclose(low, frame["mean_ci_lower"], rtol=1e-6)
    np.testing.assert_allclose(high, frame["mean_ci_upper"], rtol=1e-6)


@repeated(70, 200)
def test_intervals_cover(repeats):
    """Over repetitions, 90% Wald intervals hold the true slope 90% of the time; with variance
    three times the mean the model's do not, and the robust ones do."""
    random, rows = np.random.default_rng(2), np.random.default_rng(3).standard_normal((150, 2))
    rate, hits = np.exp(rows @ [0.4, -0.2] + 1.0), np.zeros(3)
    for _ in range(repeats):
        plain = random.poisson(rate)
        spread = random.poisson(rate * random.gamma(rate / 2, 2 / rate))
        for place, y, kind in ((0, plain, "model"), (1, spread, "model"), (2, spread, "HC3")):
            model = th.PoissonRegressor(alpha=0.0, solver="newton").fit(rows, y)
            again = (rows, y) if kind == "HC3" else ()
            line = model.summary(*again, level=0.9, covariance=kind)["x0"]
            hits[place] += line.low <= 0.4 <= line.high
    tolerance = 3.5 * np.sqrt(0.09 / repeats)
    assert abs(hits[0] / repeats - 0.9) < tolerance
    assert hits[1] / repeats < 0.9 - tolerance
    assert abs(hits[2] / repeats - 0.9) < tolerance + 0.02  # asymptotic


def test_solvers_without_a_hessian_are_given_the_rows():
    random = np.random.default_rng(1)
    wide = random.standard_normal((400, 70))
    y = random.poisson(1.0, 400)
    model = th.LinearModel("poisson", "none", solver="lbfgs").fit(wide, y)
    with pytest.raises(th.errors.CapabilityError, match=r"summary\(X, y\)"):
        model.summary()
    newton = th.PoissonRegressor(alpha=0.0, tol=1e-8, solver="newton").fit(wide, y)
    np.testing.assert_allclose(
        column(model.summary(wide, y), "standard_error"),
        column(newton.summary(), "standard_error"),
        rtol=1e-4,
    )


def test_remembers_no_rows():
    big = np.tile(X, (40, 1))
    model = th.PoissonRegressor(alpha=0.0, solver="newton").fit(big, np.tile(COUNTS, 40))
    kept = pickle.dumps(model)
    assert len(kept) < 20_000
    assert str(pickle.loads(kept).summary()) == str(model.summary())


def test_prints_well():
    import pandas

    frame = pandas.DataFrame(X, columns=["age", "income", "x"])
    model = model_of("poisson").fit(frame, COUNTS)
    text = str(model.summary(frame, COUNTS, covariance="HC1"))
    for part in ("income", "95% from", "Poisson likelihood", "McFadden", "robust", "HC1"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100
    assert repr(model.summary()) == str(model.summary())
    assert model.summary()._repr_html_().startswith("<table>")
    assert model.summary()["age"].estimate == pytest.approx(model.coef_[0])
    with pytest.raises(KeyError):
        model.summary()["other"]


GROUP = (np.arange(250) < 20).astype(float)


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
@pytest.mark.parametrize(
    ("loss", "rows", "y"),
    [
        ("logistic", X, (X[:, 0] > 0.2).astype(float)),
        ("logistic", np.column_stack([X, GROUP]), np.maximum(BINARY, GROUP)),
        ("poisson", np.column_stack([X, GROUP]), COUNTS * (1 - GROUP)),
    ],
    ids=["separated", "partly separated", "a group without counts"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_likelihood_without_maximum_is_refused(loss, rows, y, tol):
    with pytest.warns(th.errors.SeparationWarning, match=r"no maximum.*penalty=\"l2\""):
        model = th.LinearModel(loss, "none", tol=tol).fit(rows, y)
    with pytest.raises(th.errors.CapabilityError, match=r"no maximum.*(penalty)"):
        model.summary()
    with pytest.raises(th.errors.CapabilityError, match="no maximum"):
        model.predict_interval(rows)


def test_refusals_give_a_way_out():
    with pytest.raises(th.errors.CapabilityError, match=r"fit \(L2\(alpha=1.0\)\).*th.bootstrap"):
        th.PoissonRegressor().fit(X, COUNTS).summary()
    with pytest.raises(
        th.errors.CapabilityError, match=r"not for the loss Huber\. .*th\.bootstrap"
    ):
        th.LinearModel("huber", "none").fit(X, REAL).summary()
    # Gamma is the likelihood of a distribution, so the error must not deny that.
    with pytest.raises(th.errors.CapabilityError, match=r"^GammaRegressor.*not for the loss Gamma"):
        th.GammaRegressor(alpha=0).fit(X, COUNTS + 1.0).summary()
    dependent = np.column_stack([X, X[:, 0]])
    with pytest.raises(th.errors.CapabilityError, match=r"linearly dependent.*Drop"):
        model_of("poisson").fit(dependent, COUNTS).summary()
    with pytest.raises(th.errors.CapabilityError, match="more rows than parameters"):
        model_of("squared").fit(X[:4], REAL[:4]).summary()
    model = model_of("poisson").fit(X, COUNTS)
    with pytest.raises(th.errors.CapabilityError, match=r"summary\(X, y, covariance='HC1'\)"):
        model.summary(covariance="HC1")
    with pytest.raises(th.errors.ParameterError, match="covariance='HC4'"):
        model.summary(X, COUNTS, covariance="HC4")
    with pytest.raises(th.errors.DataError, match="not the rows of fit"):
        model.summary(X + 0.1, COUNTS, covariance="HC0")
    with pytest.raises(th.errors.ParameterError, match="level=95"):
        model.summary(level=95)
    with pytest.raises(th.errors.ParameterError, match="kind='prediction'"):
        model.predict_interval(X, kind="prediction")
    several = model_of("softmax_cross_entropy").fit(X, CLASSES)
    with pytest.raises(th.errors.CapabilityError, match="one score per row"):
        several.predict_interval(X)
    with pytest.raises(th.errors.CapabilityError, match="one score per row"):
        several.summary(X, CLASSES, covariance="HC0")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_stopped_early_is_refused():
    model = th.PoissonRegressor(alpha=0.0, max_iter=1, tol=1e-12).fit(X, COUNTS)
    with pytest.raises(th.errors.CapabilityError, match="stopped before the maximum"):
        model.summary()


def test_logistic_regression_tells_its_standard_errors():
    random = np.random.default_rng(3)
    rows = random.standard_normal((400, 3))
    labels = np.where(rows @ [1.0, -0.5, 0.0] + random.logistic(size=400) > 0.3, "yes", "no")
    model = th.LogisticRegression(C=np.inf, tol=1e-10).fit(rows, labels)
    design = statsmodels.api.add_constant(rows)
    peer = statsmodels.api.Logit(labels == "yes", design).fit(disp=0)
    errors = [line.standard_error for line in model.summary().coefficients]
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-6)
    assert model.summary().likelihood_ratio.p == pytest.approx(peer.llr_pvalue, rel=1e-6)
    with pytest.raises(th.errors.CapabilityError, match="bootstrap"):
        th.LogisticRegression(C=1.0).fit(rows, labels).summary()


def test_constant_targets_leave_nothing_to_explain():
    rows = np.random.default_rng(0).standard_normal((50, 3)) + 3.0
    summary = th.LinearModel(penalty="none").fit(rows, np.ones(50)).summary()
    assert np.isnan([summary.pseudo_r2, summary.likelihood_ratio.statistic]).all()
    assert "y is constant" in str(summary)


@pytest.mark.parametrize("units", [1.0, 1e-4])
def test_inference_is_at_the_maximum_whatever_the_tolerance(units):
    """A coarse tolerance would show in the estimates and in the likelihood."""
    rows = np.column_stack([X[:, :2], units * X[:, 2]])
    models = {
        "poisson": (th.PoissonRegressor(alpha=0.0, tol=1e-2), COUNTS),
        "logistic": (th.LogisticRegression(penalty=None, tol=1e-2), BINARY),
        "classes": (th.LogisticRegression(penalty=None, tol=1e-2), CLASSES),
    }
    for model, y in models.values():
        coarse = model.fit(rows, y).summary()
        coef = model.coef_.copy()
        exact = model.set_params(tol=1e-12).fit(rows, y).summary()
        errors = column(exact, "standard_error")
        gap = (column(coarse, "estimate") - column(exact, "estimate")) / errors
        assert np.abs(gap).max() < 1e-6
        np.testing.assert_allclose(column(coarse, "standard_error"), errors, rtol=1e-6)
        np.testing.assert_allclose(coef, model.coef_, rtol=1e-5)
        assert abs(coarse.log_likelihood - exact.log_likelihood) < 1e-9
