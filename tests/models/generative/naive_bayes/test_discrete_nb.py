"""Naive Bayes for counts and categories: scikit-learn's numbers, batches, samples and corners."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multinomial
from sklearn import naive_bayes as peers

import thetahat as th
from thetahat.errors import DataError, ParameterError

NAMES = ("BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB")


def rows():
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 300)
    rates = random.gamma(1.0, 1.0, (4, 12))
    return np.minimum(random.poisson(rates[y]), 6).astype(float), y, random.random(300)


def assert_same(ours, theirs, x):
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-12)
    pairs = zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-11)
    theirs_joint = theirs.predict_joint_log_proba(x)
    np.testing.assert_allclose(ours.predict_joint_log_proba(x), theirs_joint, rtol=1e-11)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.3, "fit_prior": False}, {"class_prior": [0.1, 0.2, 0.3, 0.4]}]
)
def test_equals_scikit_learn(name, weighted, options):
    x, y, weight = rows()
    weight = weight if weighted else None
    ours = getattr(th, name)(**options).fit(x, y, weight)
    assert_same(ours, getattr(peers, name)(**options).fit(x, y, weight), x)


@pytest.mark.parametrize(
    ("name", "options"), [("BernoulliNB", {"binarize": 2.0}), ("ComplementNB", {"norm": True})]
)
def test_own_parameters_equal_scikit_learn(name, options):
    x, y, weight = rows()
    alpha = np.linspace(0.1, 2.0, x.shape[1])
    ours = getattr(th, name)(alpha=alpha, **options).fit(x, y, weight)
    theirs = getattr(peers, name)(alpha=1.0, **options).fit(x, y, weight)
    if name == "ComplementNB":  # an array of alpha per column
        theirs.set_params(alpha=alpha).fit(x, y, weight)
        assert_same(ours, theirs, x)
    else:
        assert_same(getattr(th, name)(**options).fit(x, y, weight), theirs, x)
    sparse = getattr(th, name)(alpha=alpha, **options).fit(sp.csr_array(x), y, weight)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(x)), ours.predict_proba(x))


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_one_fit(name):
    x, y, weight = rows()
    whole, parts = getattr(th, name)().fit(x, y, weight), getattr(th, name)()
    for at in np.array_split(np.arange(300), 6):
        parts.partial_fit(x[at], y[at], classes=[0, 1, 2, 3], sample_weight=weight[at])
    np.testing.assert_allclose(parts.predict_proba(x), whole.predict_proba(x), rtol=1e-10)
    np.testing.assert_allclose(parts.class_count_, whole.class_count_)


def test_bernoulli_shares_and_the_beta_prior():
    """The estimate is N₁/N without smoothing, and (N₁ + 1)/(N + 2) with the prior Beta(2, 2)."""
    x, y = np.array([[1], [1], [1], [0], [0], [0], [0], [1]]), [0, 0, 0, 0, 0, 1, 1, 1]
    plain = th.BernoulliNB(alpha=0).fit(x, y)
    np.testing.assert_allclose(np.exp(plain.feature_log_prob_), [[3 / 5], [1 / 3]])
    smoothed = th.BernoulliNB(alpha=1).fit(x, y)
    np.testing.assert_allclose(np.exp(smoothed.feature_log_prob_), [[4 / 7], [2 / 5]])
    theta = np.linspace(0.001, 0.999, 999)
    posterior = theta**3 * (1 - theta) ** 2 * theta * (1 - theta)
    assert theta[posterior.argmax()] == pytest.approx(4 / 7, abs=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
def test_no_smoothing_has_no_nan(name, sparse):
    x = np.array([[2.0, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]])
    kind = sp.csr_array if sparse else np.asarray
    model = getattr(th, name)(alpha=0).fit(kind(x), [0, 0, 1, 1])
    found = model.predict_proba(kind(x))
    np.testing.assert_allclose(found, [[1, 0], [1, 0], [0, 1], [0, 1]], atol=1e-12)
    both = model.predict_proba(kind(np.array([[1.0, 1.0, 0.0]])))
    assert np.isfinite(both).all()


def test_bernoulli_without_smoothing_needs_what_a_class_always_has():
    model = th.BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1])
    joint = model.predict_joint_log_proba([[1, 1], [0, 1], [0, 0]])
    none = -np.inf
    expected = [[np.log(0.25), none], [none, np.log(0.5)], [none, none]]
    np.testing.assert_allclose(joint, expected)


def test_small_alpha_is_raised_unless_forced():
    x, y = [[1, 0], [0, 1]], [0, 1]
    with pytest.warns(UserWarning, match=r"setting alpha = 1\.0e-10"):
        th.MultinomialNB(alpha=0, force_alpha=False).fit(x, y)
    assert th.MultinomialNB(alpha=0).fit(x, y).feature_log_prob_[0, 1] == -np.inf


def test_multinomial_density_is_that_of_scipy():
    x, y, _ = rows()
    model = th.MultinomialNB().fit(x, y)
    share = np.exp(model.feature_log_prob_)
    expected = sum(
        np.exp(model.class_log_prior_[c]) * multinomial.pmf(x, x.sum(axis=1), share[c])
        for c in range(4)
    )
    np.testing.assert_allclose(np.exp(model.log_density(x)), expected, rtol=1e-9)
    np.testing.assert_allclose(model.log_density(sp.csr_array(x)), model.log_density(x))


def test_complement_has_no_density():
    x, y, _ = rows()
    model = th.ComplementNB().fit(x, y)
    assert not hasattr(model, "log_density")
    assert not hasattr(model, "sample")


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB", "MultinomialNB"])
def test_samples_come_from_the_model(name):
    x, y, _ = rows()
    model = getattr(th, name)().fit(x, y)
    drawn, labels = model.sample(20_000, random_state=0)
    again = getattr(th, name)(alpha=0).fit(drawn, labels)
    for a, b in zip(again.feature_log_prob_, model.feature_log_prob_, strict=True):
        b = b[:, : a.shape[1]] if name == "CategoricalNB" else b
        np.testing.assert_allclose(np.exp(a), np.exp(b), atol=0.03)
    np.testing.assert_allclose(np.exp(again.class_log_prior_), np.bincount(y) / 300, atol=0.02)


def test_categorical_text_needs_an_ordinal_encoder():
    model = th.CategoricalNB()
    tables = [np.array([["red", "s"], ["blue", "m"]])]
    tables.append(pytest.importorskip("pandas").DataFrame(tables[0], columns=["colour", "size"]))
    for X in tables:
        with pytest.raises(ValueError, match=r"sklearn\.preprocessing\.OrdinalEncoder"):
            model.fit(X, [0, 1])
    model.fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match=r"sklearn\.preprocessing\.OrdinalEncoder"):
        model.predict(tables[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint32, bool])
def test_rows_of_whole_numbers_are_those_of_floats(name, dtype):
    X = np.random.default_rng(0).integers(0, 2, (30, 3))
    model = getattr(th, name)().fit(X, np.arange(30) % 3)
    rows = X[:5].astype(dtype)
    found, expected = model.predict_proba(rows), model.predict_proba(rows.astype(float))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"features|columns"):
        model.predict_proba(rows[:, :2])


@pytest.mark.parametrize(
    ("name", "sparse"),
    [
        ("CategoricalNB", False),
        ("ComplementNB", False),
        ("ComplementNB", True),
        ("MultinomialNB", False),
        ("MultinomialNB", True),
    ],
)
def test_negative_counts_are_refused_by_place(name, sparse):
    x, y, _ = rows()
    x[17, 3] = -2
    with pytest.raises(th.errors.DataError, match=r"Negative values.*column 3 holds -2 at row 17"):
        getattr(th, name)().fit(sp.csr_array(x) if sparse else x, y)


def test_fractions_and_unseen_categories_are_refused_by_place():
    x, y, _ = rows()
    model = th.CategoricalNB().fit(x, y)
    with pytest.raises(th.errors.DataError, match=r"column 2 holds 0.5.*categories are whole"):
        th.CategoricalNB().fit(np.where(np.arange(12) == 2, 0.5, x), y)
    x[5, 2] = 9
    with pytest.raises(th.errors.DataError, match=r"column 2 holds category 9.*min_categories"):
        model.predict(x)
    with pytest.raises(th.errors.DataError, match=r"column 2 holds 0.5"):
        model.predict(np.where(np.arange(12) == 2, 0.5, x[:1]))
    roomy = th.CategoricalNB(min_categories=10).fit(rows()[0], y)
    assert roomy.predict(x).shape == (300,)
    assert (roomy.n_categories_ == 10).all()


def test_a_category_of_1e12_is_refused_before_memory_is_taken():
    with pytest.raises(th.errors.MemoryBudgetError, match=r"OrdinalEncoder"):
        th.CategoricalNB().fit([[0.0], [1e12]], [0, 1])


def test_bernoulli_without_threshold_needs_zeros_and_ones():
    with pytest.raises(th.errors.DataError, match=r"column 1 holds 2 at row 0.*binarize"):
        th.BernoulliNB(binarize=None).fit([[0, 2], [1, 1]], [0, 1])
    model = th.BernoulliNB(binarize=None).fit([[0, 1], [1, 1]], [0, 1])
    assert model.predict([[1, 1]]) == 1


@pytest.mark.parametrize("name", NAMES)
def test_priors_are_checked(name):
    x, y, _ = rows()
    for prior, words in (
        ([0.5, 0.5], "must match number of classes"),
        ([0.5, 0.5, 0.5, -0.5], "non-negative"),
        ([0.5, 0.5, 0.5, 0.5], "sum of the priors"),
        ("uniform", "class_prior='uniform' must be a real number or an array"),
    ):
        with pytest.raises(th.errors.ParameterError, match=words):
            getattr(th, name)(class_prior=prior).fit(x, y)


def test_a_class_that_has_no_rows_yet():
    model = th.MultinomialNB(alpha=0).partial_fit([[1, 0], [0, 1]], [0, 1], classes=[0, 1, 2])
    assert model.predict_proba([[1, 1]])[0, 2] == 0
    model.partial_fit([[1, 1]], [2])
    assert model.predict([[1, 1]]) == 2


@pytest.mark.parametrize("least", [10**6, 10**12, [3, 3, 10**12]])
def test_memory_for_categories_that_no_row_has_is_checked_before_it_is_taken(least):
    x = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]])
    with th.config(memory=10**7), pytest.raises(th.errors.MemoryBudgetError, match="min_categ"):
        th.CategoricalNB(min_categories=least).fit(x, [0, 1])
    with th.config(memory=10**7):
        th.CategoricalNB(min_categories=1000).fit(x, [0, 1])


def test_the_memory_of_all_tables_is_counted():
    """Counts, log-probabilities and their copy for predictions are in memory at once."""
    import tracemalloc

    x, y = np.arange(200.0)[:, None] * 100, np.arange(200)
    table = 8 * 200 * 19_901
    with th.config(memory=3 * table), pytest.raises(th.errors.MemoryBudgetError, match="column 0"):
        th.CategoricalNB().fit(x, y)
    tracemalloc.start()
    with th.config(memory=5 * table):
        th.CategoricalNB().fit(x, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 4 * table


def test_too_large_categories_are_refused_with_the_limit():
    with pytest.raises(th.errors.DataError, match="whole numbers from 0 to 4503599627370495"):
        th.CategoricalNB().fit([[0.0], [2.0**62]], [0, 1])
    model = th.CategoricalNB().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(
        th.errors.DataError, match=r"category 1000000000000 at row 1, .*0 to 1"
    ) as e:
        model.predict([[0.0], [1e12]])
    assert "e+12" not in str(e.value)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_negative_counts_have_no_density(kind):
    x, y, _ = rows()
    model = th.MultinomialNB().fit(kind(x), y)
    x[3, 2] = -1.0
    for method in (model.log_density, model.novelty):
        with pytest.raises(th.errors.DataError, match=r"Negative values.*column 2 holds -1 at row"):
            method(kind(x))
    assert model.predict(kind(x)).shape == y.shape


def test_counts_that_are_too_large_to_be_drawn_are_refused():
    x, y, _ = rows()
    model = th.MultinomialNB().fit(x * 1e200, y)
    with pytest.raises(th.errors.CapabilityError, match=r"mean total of .*divide X"):
        model.sample(2, random_state=0)


def test_categories_beyond_all_whole_numbers_are_refused_without_a_warning():
    model = th.CategoricalNB().fit([[0], [1], [0], [1]], [0, 1, 0, 1])
    with pytest.raises(DataError, match=r"holds 1e\+200 at row 0"):
        model.predict([[1e200]])


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
def test_smoothing_per_column_must_be_numbers(name):
    model = getattr(th, name)(alpha=["a", "b"])
    with pytest.raises(ParameterError, match=r"alpha=\['a', 'b'\] must be a real number"):
        model.fit([[1, 0], [0, 1]], [0, 1])
