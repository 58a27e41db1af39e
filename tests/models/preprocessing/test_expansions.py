"""Bias, complements, monomials, functions, similarities: φ(x) and what a linear model gains."""

import itertools
from math import comb

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import PolynomialFeatures

import thetahat as th

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Z = RNG.normal(size=(20, 3))


# The constant feature.


@pytest.mark.parametrize("position", ["last", "first"])
def test_the_bias_is_one_more_coefficient(position):
    w, b = np.array([1.0, -2.0, 0.5]), 0.7
    extended = th.BiasFeature(position=position).fit_transform(X)
    w_extended = np.append(w, b) if position == "last" else np.append(b, w)
    np.testing.assert_allclose(extended @ w_extended, X @ w + b, rtol=1e-13)
    # A halfspace w·x ≥ θ is one through the origin, with b = −θ.
    assert np.array_equal(extended @ w_extended >= 0, X @ w >= -b)


def test_least_squares_with_a_bias_feature_is_least_squares_with_an_intercept():
    random = np.random.default_rng(1)
    y = X @ [1.0, 2.0, 3.0] + 4.0 + random.normal(size=50)
    plain = th.LinearRegression().fit(X, y)
    extended = th.BiasFeature().fit_transform(X)
    absorbed = th.LinearRegression(fit_intercept=False).fit(extended, y)
    np.testing.assert_allclose(absorbed.coef_, [*plain.coef_, plain.intercept_], rtol=1e-11)
    centred = th.LinearRegression(fit_intercept=False).fit(X - X.mean(axis=0), y - y.mean())
    np.testing.assert_allclose(absorbed.coef_[:-1], centred.coef_, rtol=1e-11)


def test_a_prior_on_the_extended_weights_covers_the_bias():
    """The posterior mean under w̃ ~ N(0, σ²/α · I) is ridge on [x 1] without intercept."""
    y = X @ [1.0, 2.0, 3.0] + 4.0
    extended = th.BiasFeature().fit_transform(X)
    posterior = np.linalg.solve(extended.T @ extended + 2.0 * np.eye(4), extended.T @ y)
    ridge = th.Ridge(alpha=2.0, fit_intercept=False).fit(extended, y)
    np.testing.assert_allclose(ridge.coef_, posterior, rtol=1e-11)


def test_the_bias_feature_by_name():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    for position, names in {
        "last": ["a", "b", "c", "bias"],
        "first": ["bias", "a", "b", "c"],
    }.items():
        model = th.BiasFeature(position=position).fit(table)
        assert model.get_feature_names_out().tolist() == names
    with pytest.raises(th.errors.ParameterError, match="position='middle' must be one of"):
        th.BiasFeature(position="middle").fit(X)


# Complements.


def test_0110_becomes_01101001():
    expanded = th.boolean_complement([[0, 1, 1, 0]])
    assert "".join(str(int(bit)) for bit in expanded[0]) == "01101001"


def test_negations_become_plain_literals():
    """x₂ ∨ x̄₄ ∨ x₇ on x is x₂ ∨ y₄ ∨ x₇ on [x, y], for all 2⁷ inputs."""
    bits = np.array(list(itertools.product([0, 1], repeat=7)))
    truth = (bits[:, 1] == 1) | (bits[:, 3] == 0) | (bits[:, 6] == 1)
    expanded = th.boolean_complement(bits)
    assert expanded.shape == (128, 14)
    np.testing.assert_array_equal(expanded[:, [1, 7 + 3, 6]].any(axis=1), truth)
    assert (expanded.sum(axis=1) == 7).all()


def test_complements_in_a_pipeline():
    from sklearn.preprocessing import FunctionTransformer

    table = pd.DataFrame({"wet": [True, False], "old": [0, 1]})
    expanded = FunctionTransformer(th.boolean_complement).fit_transform(table)
    np.testing.assert_array_equal(expanded, [[1, 0, 0, 1], [0, 1, 1, 0]])


@pytest.mark.parametrize("value", [0.5, 2.0, -1.0])
def test_what_is_not_boolean_is_refused_with_its_place(value):
    table = pd.DataFrame({"a": [0.0, 1.0, 0.0], "b": [1.0, 0.0, value]})
    with pytest.raises(
        th.errors.DataError, match=f"column 'b' holds {value:g} at row 2; only 0 and 1"
    ):
        th.boolean_complement(table)
    with pytest.raises(th.errors.DataError, match=f"column 1 holds {value:g} at row 2"):
        th.boolean_complement(table.to_numpy())


def test_the_row_is_counted_from_the_start_of_the_data():
    rows = np.zeros((40_000, 2))
    rows[33_333, 1] = 3.0
    with pytest.raises(th.errors.DataError, match="column 1 holds 3 at row 33333"):
        th.boolean_complement(rows)


# Monomials.


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("include_bias", [True, False])
def test_monomials_against_scikit_learn(degree, d, include_bias):
    ours = th.MonomialExpansion(degree, include_bias=include_bias).fit(X[:, :d])
    peer = PolynomialFeatures(degree, include_bias=include_bias).fit(X[:, :d])
    np.testing.assert_allclose(ours.transform(X[:, :d]), peer.transform(X[:, :d]), rtol=1e-13)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert ours.n_output_features_ == comb(d + degree, degree) - (not include_bias)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_kernel_form_has_the_polynomial_kernel_as_inner_product(degree):
    model = th.MonomialExpansion(degree, form="kernel").fit(X)
    expected = polynomial_kernel(X, Z, degree=degree, gamma=1.0, coef0=1.0)
    np.testing.assert_allclose(model.transform(X) @ model.transform(Z).T, expected, atol=1e-10)
    assert model.n_output_features_ == comb(3 + degree, degree)
    without = th.MonomialExpansion(degree, form="kernel", include_bias=False).fit(X)
    np.testing.assert_allclose(
        without.transform(X) @ without.transform(Z).T, expected - 1, atol=1e-10
    )


def test_kernel_form_of_two_features_and_degree_two():
    x1, x2, root = 3.0, 5.0, np.sqrt(2.0)
    found = th.MonomialExpansion(2, form="kernel").fit_transform([[x1, x2]])
    np.testing.assert_allclose(
        found, [[1, root * x1, root * x2, x1**2, root * x1 * x2, x2**2]], rtol=1e-15
    )


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_ordered_form_has_all_products_in_every_order(degree):
    model = th.MonomialExpansion(degree, form="ordered").fit(X)
    features = model.transform(X)
    assert features.shape == (50, 3**degree)
    for column, choice in enumerate(itertools.product(range(3), repeat=degree)):
        np.testing.assert_allclose(features[:, column], X[:, choice].prod(axis=1), rtol=1e-13)
    np.testing.assert_allclose(features @ model.transform(Z).T, (X @ Z.T) ** degree, atol=1e-12)
    bias = th.BiasFeature().fit(X)
    model.fit(bias.transform(X))
    with_bias = model.transform(bias.transform(X)) @ model.transform(bias.transform(Z)).T
    np.testing.assert_allclose(with_bias, (X @ Z.T + 1) ** degree, atol=1e-12)


def test_ordered_names():
    model = th.MonomialExpansion(2, form="ordered").fit(pd.DataFrame(X[:, :2], columns=["a", "b"]))
    assert model.get_feature_names_out().tolist() == ["a a", "a b", "b a", "b b"]


def test_a_polynomial_threshold_function_becomes_a_halfspace():
    inside = (X[:, 0] ** 2 + X[:, 1] ** 2) < 1
    names = th.MonomialExpansion(2).fit(X).get_feature_names_out().tolist()
    w = np.zeros(len(names))
    w[[names.index("x0^2"), names.index("x1^2"), names.index("1")]] = [-1, -1, 1]
    assert np.array_equal(th.MonomialExpansion(2).fit_transform(X) @ w > 0, inside)


def test_polynomial_basis_of_one_feature():
    x = np.linspace(-2, 2, 11)[:, None]
    expanded = th.MonomialExpansion(4).fit_transform(x)
    np.testing.assert_allclose(expanded, np.vander(x[:, 0], 5, increasing=True), rtol=1e-14)
    y = expanded @ [1.0, 0.0, -3.0, 0.5, 2.0]
    model = th.LinearRegression(fit_intercept=False).fit(expanded, y)
    np.testing.assert_allclose(model.coef_, [1.0, 0.0, -3.0, 0.5, 2.0], atol=1e-12)


def test_the_number_of_monomials_is_refused_before_they_are_made():
    wide = np.zeros((2, 1000))
    with pytest.raises(
        th.errors.MemoryBudgetError, match=r"one row of \d{24} monomials.*Reduce the degree"
    ):
        th.MonomialExpansion(10).fit(wide)
    with pytest.raises(th.errors.MemoryBudgetError, match="monomials"):
        th.MonomialExpansion(10, form="ordered").fit(wide)


def test_overflow_is_refused_by_name():
    table = pd.DataFrame({"a": [1.0, 1e200], "b": [1.0, 2.0]})
    model = th.MonomialExpansion(2).fit(table)
    with pytest.raises(
        th.errors.DataError, match=r"'a\^2' overflows float64 at row 1, where column 'a'"
    ):
        model.transform(table)
    with pytest.raises(th.errors.DataError, match="overflows float32 at row 0"):
        th.MonomialExpansion(2).fit_transform(np.array([[1e30]], dtype=np.float32))


def test_bad_monomial_parameters_are_refused():
    for degree in (0, 1.5, True, "2"):
        with pytest.raises(th.errors.ParameterError, match=r"degree=.* must be a whole number ≥ 1"):
            th.MonomialExpansion(degree).fit(X)
    with pytest.raises(th.errors.ParameterError, match="form='all' must be one of"):
        th.MonomialExpansion(form="all").fit(X)


# Functions of columns.


def test_any_functions_of_columns():
    table = pd.DataFrame({"a": [1.0, 4.0], "b": [0.0, 1.0]})
    model = th.FeatureMap(
        {
            "a·b": (np.multiply, ["a", "b"]),
            "log a": (np.log, ["a"]),
            "√a·exp b": (lambda a, b: np.sqrt(a) * np.exp(b), ["a", "b"]),
            "both": lambda X: X + 1.0,
            "last": (np.negative, -1),
        }
    ).fit(table)
    names = ["a·b", "log a", "√a·exp b", "both0", "both1", "last"]
    assert model.get_feature_names_out().tolist() == names
    expected = [[0, 0, 1, 2, 1, 0], [4, np.log(4), 2 * np.e, 5, 2, -1]]
    np.testing.assert_allclose(model.transform(table), expected, rtol=1e-15)


def test_xor_is_linear_after_one_product():
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.array([0.0, 1.0, 1.0, 0.0])
    features = th.FeatureMap({"x0·x1": (np.multiply, [0, 1])}, keep_columns=True)
    model = th.LinearRegression().fit(features.fit_transform(corners), y)
    np.testing.assert_allclose(model.coef_, [0, 0, -0.5], atol=1e-15)
    assert model.intercept_ == pytest.approx(0.5)
    assert features.get_feature_names_out().tolist() == ["x0", "x1", "x0·x1"]


def test_a_linear_model_in_features_is_nonlinear_in_x():
    x = np.linspace(0.5, 4, 40)[:, None]
    y = 2 * np.log(x[:, 0]) - 3 * np.sqrt(x[:, 0]) * np.exp(-x[:, 0])
    features = th.FeatureMap(
        {"log": (np.log, [0]), "wave": (lambda t: np.sqrt(t) * np.exp(-t), [0])}
    )
    model = th.LinearRegression().fit(features.fit_transform(x), y)
    np.testing.assert_allclose(model.coef_, [2, -3], rtol=1e-9)


def not_implemented(x):
    raise NotImplementedError("later")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ((np.log, [0]), r"'f' is nan at row 1 \(columns 0: -1\)"),
        ((lambda x: 1.0 / (x + 1.0), [0]), r"'f' is inf at row 1"),
        (lambda X: X.sum(), r"returned shape \(\) for 3 rows, but must return \(3,\), or"),
        (lambda X: X.T, r"returned shape \(2, 3\) for 3 rows"),
        (lambda X: X[:, :0], r"returned shape \(3, 0\) for 3 rows"),
        (lambda X: X[:, 0].astype(str), "returned values of type"),
        ((lambda x: np.emath.sqrt(x), [0]), "returned values of type complex128"),
        (lambda X: X[:, 0] - X[:, 0].mean(), "different values for a row if other rows"),
    ],
    ids=["nan", "inf", "scalar", "transposed", "empty", "text", "complex", "not of one row"],
)
def test_bad_results_name_the_function(function, message):
    rows = [[1.0, 2.0], [-1.0, 0.5], [3.0, 7.0]]
    with pytest.raises(th.errors.DataError, match=message) as caught:
        th.FeatureMap({"f": function}).fit_transform(rows)
    assert "FeatureMap: the function 'f'" in str(caught.value)


def test_an_error_inside_a_function_says_which():
    with pytest.raises(NotImplementedError) as caught:
        th.FeatureMap({"f": (not_implemented, [0])}).fit(X)
    assert "the function 'f', called with 1 argument" in caught.value.__notes__[0]


def test_a_function_must_always_make_as_many_features():
    model = th.FeatureMap({"f": lambda X: X[:, : 1 + int(X[0, 0] > 0)]}).fit([[-1.0, 1.0]])
    with pytest.raises(th.errors.DataError, match="'f' returned 2 features, but 1 in fit"):
        model.transform([[1.0, 1.0]])


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({}, "must be a dictionary of names and functions"),
        ([np.log], "must be a dictionary of names and functions"),
        ({"f": 3}, r"functions\['f'\] is 3; it must be a function"),
        ({"f": (np.log, [0], 1)}, "it must be a function, or a function and its columns"),
        ({"f": (np.log, [7])}, "uses column 7, but X has 3 columns without names"),
        ({"f": (np.log, "age")}, "uses column 'age', but X has 3 columns without names"),
    ],
    ids=str,
)
def test_bad_functions_are_refused(functions, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.FeatureMap(functions).fit(X)


# Similarities.


def test_similarities_to_all_rows_are_the_kernel_matrix():
    model = th.SimilarityFeatures(rbf_kernel).fit(X)
    np.testing.assert_array_equal(model.landmarks_, X)
    np.testing.assert_allclose(model.transform(Z), rbf_kernel(Z, X), rtol=1e-14)
    np.testing.assert_allclose(th.SimilarityFeatures().fit(X).transform(Z), Z @ X.T, rtol=1e-14)


def test_landmarks_are_given_or_drawn():
    model = th.SimilarityFeatures(rbf_kernel, landmarks=Z[:4]).fit(X)
    np.testing.assert_allclose(model.transform(X), rbf_kernel(X, Z[:4]), rtol=1e-14)
    drawn = [
        th.SimilarityFeatures(landmarks=7, random_state=seed).fit(X).landmarks_
        for seed in (0, 0, 1)
    ]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert all((X == row).all(axis=1).any() for row in drawn[0])
    assert len(np.unique(drawn[0], axis=0)) == 7


def test_similarities_that_are_no_kernel():
    def nearness(X, Z):
        return -np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2)

    model = th.SimilarityFeatures(nearness, landmarks=[[0.0, 0.0, 0.0]]).fit(X)
    np.testing.assert_allclose(model.transform(X)[:, 0], -np.abs(X).sum(axis=1), rtol=1e-14)


def test_bad_similarities_are_refused():
    with pytest.raises(
        th.errors.DataError,
        match=r"shape \(50,\) for 50 rows and 50 landmarks, but must return \(50, 50\)",
    ):
        th.SimilarityFeatures(lambda X, Z: X[:, 0]).fit_transform(X)
    with pytest.raises(th.errors.DataError, match="similarity is nan between row 0 and landmark 0"):
        th.SimilarityFeatures(lambda X, Z: X @ Z.T * np.nan).fit_transform(X)
    single = X.astype(np.float32)
    with pytest.raises(th.errors.DataError, match="similarity is inf between row 0 and landmark 0"):
        th.SimilarityFeatures(lambda X, Z: np.full((50, 50), 1e300)).fit_transform(single)
    with pytest.raises(
        th.errors.DataError, match="landmarks=51 exceeds the number of rows, n_samples = 50"
    ):
        th.SimilarityFeatures(landmarks=51).fit(X)
    with pytest.raises(
        th.errors.DataError, match="X has 2 features, but SimilarityFeatures is expecting 3"
    ):
        th.SimilarityFeatures(landmarks=[[0.0, 1.0]]).fit(X)
    with pytest.raises(
        th.errors.ParameterError, match=r"similarity='rbf' must be a function K\(X, Z\)"
    ):
        th.SimilarityFeatures("rbf").fit(X)
    with pytest.raises(th.errors.ParameterError, match="landmarks=0 must be a whole number ≥ 1"):
        th.SimilarityFeatures(landmarks=0).fit(X)
