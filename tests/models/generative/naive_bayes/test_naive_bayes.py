"""Naive Bayes with a likelihood per column: densities, mixtures, text, missing values, corners."""

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from scipy.stats import gaussian_kde
from sklearn.datasets import load_iris

import thetahat as th

X, Y = load_iris(return_X_y=True)
KINDS = ("gaussian", "categorical", "histogram", "kernel")


def people(n=200, seed=0):
    random = np.random.default_rng(seed)
    y = random.choice(["no", "yes"], n, p=[0.6, 0.4])
    yes = y == "yes"
    return pd.DataFrame(
        {
            "age": random.normal(40 + 10 * yes, 5),
            "town": np.where(random.random(n) < 0.3 + 0.4 * yes, "Ulm", "Bonn"),
            "member": random.random(n) < 0.2 + 0.5 * yes,
            "income": random.exponential(1 + yes),
        }
    ), y


def test_gaussian_columns_are_gaussian_nb():
    ours, theirs = th.NaiveBayes("gaussian").fit(X, Y), th.GaussianNB().fit(X, Y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(ours.log_density(X), theirs.log_density(X), rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_categorical_and_bernoulli_columns_are_those_of_the_named_models(alpha):
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 400)
    codes = (random.random((400, 5)) < 0.2 + 0.25 * y[:, None]).astype(float)
    ours = th.NaiveBayes("bernoulli", alpha=alpha).fit(codes, y)
    theirs = th.BernoulliNB(alpha=alpha).fit(codes, y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(codes), theirs.predict_joint_log_proba(codes), rtol=1e-10
    )
    codes = random.integers(0, 4, (400, 5)).astype(float)
    ours = th.NaiveBayes("categorical", alpha=alpha).fit(codes, y)
    theirs = th.CategoricalNB(alpha=alpha).fit(codes, y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(codes), theirs.predict_joint_log_proba(codes), rtol=1e-10
    )


def test_bernoulli_shares_and_the_beta_prior():
    """The estimate is N₁/N without smoothing, and (N₁ + 1)/(N + 2) with the prior Beta(2, 2)."""
    x, y = np.array([[1.0], [1], [1], [0], [0], [0], [0], [1]]), [0, 0, 0, 0, 0, 1, 1, 1]
    for alpha, expected in ((0.0, [3 / 5, 1 / 3]), (1.0, [4 / 7, 2 / 5])):
        model = th.NaiveBayes("bernoulli", alpha=alpha).fit(x, y)
        np.testing.assert_allclose(np.exp(model.column_log_density(0, [1.0])), [expected])


def test_histograms_are_those_of_numpy():
    model = th.NaiveBayes("histogram", bins=7, alpha=0).fit(X, Y)
    for j in range(4):
        edges = np.histogram_bin_edges(X[:, j], bins=7)
        middle = (edges[1:] + edges[:-1]) / 2
        for c in range(3):
            expected = np.histogram(X[c == Y, j], bins=edges, density=True)[0]
            found = np.exp(model.column_log_density(j, middle)[:, c])
            np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("rule", ["freedman_diaconis", "scott"])
def test_rules_choose_about_as_many_bins_as_numpy(rule):
    random = np.random.default_rng(2)
    x = random.standard_normal((2000, 1))
    model = th.NaiveBayes("histogram", bins=rule).fit(x, np.zeros(2000))
    count = int(model._parts[0].count[0])
    theirs = len(np.histogram_bin_edges(x[:, 0], {"freedman_diaconis": "fd"}.get(rule, rule))) - 1
    assert abs(count - theirs) <= 1


@pytest.mark.parametrize("kind", ["gaussian", "histogram", "kernel"])
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_densities_integrate_to_one(kind, alpha):
    model = th.NaiveBayes(kind, alpha=alpha, bins=9).fit(X[:, :1], Y)
    grid = np.linspace(-25, 40, 65_001)
    mass = np.exp(model.column_log_density(0, grid)).sum(axis=0) * (grid[1] - grid[0])
    np.testing.assert_allclose(mass, 1.0, atol=2e-3)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_kernels_are_those_of_scipy(rule):
    model = th.NaiveBayes("kernel", bandwidth=rule).fit(X[:, :1], Y)
    grid = np.linspace(3, 9, 50)
    for c in range(3):
        rows = X[c == Y, 0]
        n = len(rows)
        # SciPy's factor times the unbiased deviation; ours times that of maximum likelihood.
        factor = n**-0.2 if rule == "scott" else (n * 3 / 4) ** -0.2
        kde = gaussian_kde(rows, bw_method=factor * rows.std() / rows.std(ddof=1))
        np.testing.assert_allclose(np.exp(model.column_log_density(0, grid)[:, c]), kde(grid))


def test_other_kernels_and_given_bandwidths():
    x = np.array([[0.0], [1.0], [5.0]])
    model = th.NaiveBayes("kernel", kernel="uniform", bandwidth=0.5).fit(x, [0, 0, 1])
    found = np.exp(model.column_log_density(0, [0.2, 0.7, 3.0, 5.4]))
    np.testing.assert_allclose(found, [[0.5, 0], [0.5, 0], [0, 0], [0, 1.0]])


@pytest.mark.parametrize(
    "likelihoods",
    [
        ["histogram", "gaussian", "kernel", "categorical"],
        {0: "histogram", 2: "kernel", 3: "categorical"},
    ],
)
def test_a_mixture_is_the_sum_of_its_columns(likelihoods):
    model = th.NaiveBayes(likelihoods).fit(X, Y)
    assert model.likelihoods_ == ["histogram", "gaussian", "kernel", "categorical"]
    total = sum(model.column_log_density(j, X[:, j]) for j in range(4))
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(joint, total + np.log(1 / 3), rtol=1e-10)
    share = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.posterior(X), share / share.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))


def test_tables_choose_likelihoods_by_the_kinds_of_columns():
    x, y = people()
    model = th.NaiveBayes({"income": "histogram"}).fit(x, y)
    assert model.likelihoods_ == ["gaussian", "categorical", "bernoulli", "histogram"]
    new, labels = people(seed=1)
    assert model.score(new, labels) > 0.8
    rows, drawn = model.sample(50, random_state=0)
    assert set(rows[:, 1]) == {"Bonn", "Ulm"}
    assert set(rows[:, 2]) == {0.0, 1.0}
    assert set(drawn) == {"no", "yes"}
    as_objects = th.NaiveBayes(model.likelihoods_).fit(x.to_numpy(dtype=object), y)
    np.testing.assert_allclose(
        as_objects.predict_proba(new.to_numpy(dtype=object)), model.predict_proba(new)
    )


def test_unseen_categories_have_a_smoothed_probability():
    x, y = pd.DataFrame({"a": list("uuuvv")}), [0, 0, 0, 0, 1]
    model = th.NaiveBayes().fit(x, y)
    joint = model.predict_joint_log_proba(pd.DataFrame({"a": ["w", "u", None]}))
    expected = [[4 / 5 / 6, 1 / 5 / 3], [4 / 5 * 4 / 6, 1 / 5 / 3], [4 / 5, 1 / 5]]
    np.testing.assert_allclose(np.exp(joint), expected)
    plain = th.NaiveBayes(alpha=0).fit(x, y)
    new = pd.DataFrame({"a": ["w"]})
    assert np.isneginf(plain.log_density(new)).all()
    np.testing.assert_allclose(plain.predict_proba(new), [[0.8, 0.2]])


def test_categories_of_rows_without_weight_are_not_learned():
    x, y = pd.DataFrame({"a": list("uvuvw")}), [0, 0, 1, 1, 1]
    weighted = th.NaiveBayes().fit(x, y, sample_weight=[1, 1, 1, 1, 0])
    left_out = th.NaiveBayes().fit(x[:4], y[:4])
    np.testing.assert_allclose(weighted.predict_proba(x), left_out.predict_proba(x))


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_are_left_out(kind):
    random = np.random.default_rng(3)
    x = X.copy()
    x[random.random(X.shape) < 0.2] = np.nan
    model = th.NaiveBayes(kind).fit(x, Y)
    alone = [th.NaiveBayes(kind, var_smoothing=0).fit(x[:, [j]], Y) for j in range(4)]
    total = sum(
        np.where(np.isnan(x[:, [j]]), 0.0, one.column_log_density(0, x[:, j]))
        for j, one in enumerate(alone)
    )
    found = model.predict_joint_log_proba(x) - np.log(model.class_prior_)
    np.testing.assert_allclose(found, total, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_two_is_a_row_twice(kind):
    weight = np.random.default_rng(4).integers(0, 3, len(Y))
    at = np.repeat(np.arange(len(Y)), weight)
    weighted = th.NaiveBayes(kind).fit(X, Y, sample_weight=weight)
    repeated = th.NaiveBayes(kind).fit(X[at], Y[at])
    np.testing.assert_allclose(
        weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), rtol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_read_in_blocks(kind, tmp_path):
    table = pyarrow.table({f"c{j}": X[:, j] for j in range(4)} | {"y": Y})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    source = th.scan(tmp_path / "rows.parquet", target="y")
    found = th.NaiveBayes(kind).fit(source).predict_proba(source)
    np.testing.assert_allclose(found, th.NaiveBayes(kind).fit(X, Y).predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_is_loaded(kind, tmp_path):
    model = th.NaiveBayes(kind).fit(X, Y)
    th.save(model, tmp_path / "model.theta")
    loaded = th.load(tmp_path / "model.theta")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_priors():
    for priors, expected in (
        ("uniform", [1 / 3] * 3),
        ("estimated", [0.5, 0.25, 0.25]),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
    ):
        model = th.NaiveBayes(priors=priors).fit(X[:4], [0, 0, 1, 2])
        np.testing.assert_allclose(model.class_prior_, expected)
    with pytest.raises(th.errors.ParameterError, match=r"priors='equal' must be"):
        th.NaiveBayes(priors="equal").fit(X, Y)


def test_empty_bins_and_rows_outside_the_bins():
    x = np.array([[0.0], [1.0], [9.0], [10.0]])
    y = [0, 0, 1, 1]
    plain = th.NaiveBayes("histogram", bins=5, alpha=0).fit(x, y)
    np.testing.assert_array_equal(plain.predict_proba([[0.5], [9.5]]), [[1, 0], [0, 1]])
    # p(x) = 0 in the empty bin and outside: the class probabilities remain.
    np.testing.assert_array_equal(plain.predict_proba([[5.0], [-1.0], [11.0]]), [[0.5, 0.5]] * 3)
    np.testing.assert_array_equal(plain.novelty([[5.0], [11.0]]), [np.inf, np.inf])
    smooth = th.NaiveBayes("histogram", bins=5, alpha=1).fit(x, y)
    far = np.exp(smooth.column_log_density(0, [-2.0, 12.0]))
    np.testing.assert_allclose(far, np.full((2, 2), 1 / (2 + 7) / 2 * np.exp(-1.0)))
    np.testing.assert_allclose(smooth.predict_proba([[0.0], [10.0]]), [[0.75, 0.25], [0.25, 0.75]])


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_and_classes_with_one_row(kind):
    x = np.column_stack([X[:, 0], np.full(150, 7.0)])
    model = th.NaiveBayes(kind).fit(x[[0, 1, 2, 50]], [0, 0, 0, 1])
    assert np.isfinite(model.predict_proba(x)).all()
    rows, _ = model.sample(20, random_state=0)
    assert np.isfinite(rows).all()


def test_samples_have_the_distribution_of_the_model():
    kinds = ["histogram", "gaussian", "kernel", "categorical"]
    model = th.NaiveBayes(kinds, alpha=0, bins=20).fit(X, Y)
    rows, labels = model.sample(20_000, random_state=0)
    for c in range(3):
        drawn = rows[labels == c].mean(axis=0)
        # The middle of a bin may differ from the mean of its rows.
        np.testing.assert_allclose(drawn, X[c == Y].mean(axis=0), atol=0.05)
    assert set(rows[:, 3]) <= set(X[:, 3])


@pytest.mark.parametrize(
    ("likelihoods", "words"),
    [
        ("normal", "the likelihood 'normal' of column 0 must be"),
        (["gaussian"], "1 names, but X has 4 columns"),
        ({9: "gaussian"}, "there is no column 9"),
        ({"age": "gaussian"}, "there is no column 'age'"),
        (3, "must be a name, a list"),
    ],
)
def test_likelihoods_are_checked(likelihoods, words):
    with pytest.raises(th.errors.ParameterError, match=words):
        th.NaiveBayes(likelihoods).fit(X, Y)


def test_columns_that_do_not_suit_their_likelihood():
    x, y = people()
    with pytest.raises(th.errors.ParameterError, match=r"column 'town' holds categories.*'Bonn'"):
        th.NaiveBayes({"town": "gaussian"}).fit(x, y)
    with pytest.raises(th.errors.DataError, match=r"Column 0 holds 4.3.*Bernoulli"):
        th.NaiveBayes("bernoulli").fit(X, Y)
    with pytest.raises(th.errors.DataError, match=r"Column 0 is constant.*var_smoothing"):
        th.NaiveBayes("gaussian", var_smoothing=0).fit(np.ones((4, 1)), [0, 0, 1, 1])
    empty = np.column_stack([X, np.full(150, np.nan)])
    for kind in KINDS:
        with pytest.raises(th.errors.DataError, match=r"Column 4 holds missing values only"):
            th.NaiveBayes(kind).fit(empty, Y)


def test_kernels_with_negative_values_are_refused():
    with pytest.raises(th.errors.ParameterError, match=r"'silverman' gives no density, because"):
        th.NaiveBayes("kernel", kernel="silverman").fit(X, Y)


@pytest.mark.parametrize("kind", ["histogram", "kernel"])
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_columns_of_any_size_give_the_same_posterior(kind, size):
    expected = th.NaiveBayes(kind).fit(X, Y).predict_proba(X)
    found = th.NaiveBayes(kind).fit(X * size, Y).predict_proba(X * size)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_factorised_histograms_need_few_bins():
    """D histograms of 10 bins per class instead of one of 10^D bins, which would be empty."""
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 500)
    x = random.standard_normal((500, 6)) + 1.5 * y[:, None]
    model = th.NaiveBayes("histogram", bins=10).fit(x, y)
    assert sum(table.shape[1] - 2 for table in model._parts[0].tables) == 60
    assert model.score(x, y) > 0.95
    places = np.floor((x - x.min(axis=0)) / np.ptp(x, axis=0) * 9.999).astype(int)
    assert len(np.unique(places, axis=0)) / 10**6 < 0.001


def test_odd_kinds_of_parameters():
    X, y = [[0, 1], [1, 0], [1, 1]], [0, 1, 1]
    with pytest.raises(th.errors.ParameterError, match="must be a name, a list of names"):
        th.NaiveBayes(np.array(0.5)).fit(X, y)
    smooth = th.NaiveBayes("categorical", alpha=10**30, priors="uniform").fit(X, y)
    np.testing.assert_allclose(smooth.predict_proba(X), 0.5)
