"""Markov graphs: the graph of the course, queries, drawing, bad input."""

import numpy as np
import pytest

import thetahat as th

EDGES = [(1, 2), (1, 5), (2, 4), (4, 5), (3, 4)]
CHAIN = [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]


def course_graph():
    Q = np.eye(5)
    for i, j in EDGES:
        Q[i - 1, j - 1] = Q[j - 1, i - 1] = -0.3
    return th.MarkovGraph(Q, names=[1, 2, 3, 4, 5])


def test_the_graph_of_the_course():
    graph = course_graph()
    assert sorted(graph.edges) == sorted((min(e), max(e)) for e in EDGES)
    assert graph.n_edges == 5
    assert graph.neighbors(1) == graph.markov_blanket(1) == [2, 5]
    assert 3 not in graph.neighbors(2)
    assert graph.is_separated(2, 3, given=4)
    assert graph.is_separated(1, 3, given=4)
    assert graph.is_separated([1, 2], [3], given=[4])
    assert not graph.is_separated(2, 3)
    assert not graph.is_separated(1, 4, given=2)
    assert graph.is_separated(1, 4, given=[2, 5])


def test_separation_is_conditional_independence():
    """Cov(A, B | C) is zero where the graph separates A and B, and not where it does not."""
    graph = course_graph()
    S = np.linalg.inv(graph.precision)
    for given in ([4], [2, 5], [1], []):
        rest = [place for place in range(5) if place + 1 not in given]
        known = [name - 1 for name in given]
        conditional = S[np.ix_(rest, rest)]
        if known:
            solved = np.linalg.solve(S[np.ix_(known, known)], S[np.ix_(known, rest)])
            conditional = conditional - S[np.ix_(rest, known)] @ solved
        for a, i in enumerate(rest):
            for b, j in enumerate(rest[:a]):
                zero = abs(conditional[a, b]) < 1e-12
                assert graph.is_separated(i + 1, j + 1, given=given) == zero


def test_covariance_graph_of_a_chain_for_contrast():
    """Rain, traffic, delay: σ₁₃ = 1 and q₁₃ = 0."""
    graph = th.MarkovGraph(np.linalg.inv([[1.0, 1, 1], [1, 2, 2], [1, 2, 3]]))
    np.testing.assert_allclose(graph.precision, CHAIN, atol=1e-12)
    assert graph.edges == [(0, 1), (1, 2)]
    assert graph.covariance_edges == [(0, 1), (0, 2), (1, 2)]
    assert graph.is_separated(0, 2, given=1)


def test_partial_correlations_and_tolerance():
    graph = th.MarkovGraph(CHAIN)
    assert graph.partial_correlation(0, 1) == pytest.approx(0.5)
    assert graph.partial_correlation(1, 2) == pytest.approx(1 / np.sqrt(2))
    assert graph.partial_correlation(0, 0) == 1.0
    assert th.MarkovGraph(CHAIN, tol=0.6).edges == [(1, 2)]
    x = np.random.default_rng(0).normal(size=(2000, 3))
    x[:, 1] = x[:, 0] + x[:, 2]
    x[:, 1] += 1e-3 * np.random.default_rng(1).normal(size=2000)
    near = th.MarkovGraph(np.linalg.inv(np.cov(x.T)))
    assert near.partial_correlation(0, 2) == pytest.approx(-1, abs=1e-3)


def test_components():
    Q = np.eye(5)
    Q[0, 3] = Q[3, 0] = Q[1, 4] = Q[4, 1] = 0.2
    assert th.MarkovGraph(Q, names=list("abcde")).connected_components() == [
        ["a", "d"],
        ["b", "e"],
        ["c"],
    ]


def test_a_fitted_model_gives_its_precision_and_names():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(300, 4)), axis=1)
    model = th.GraphicalLasso(0.1).fit(pandas.DataFrame(X, columns=list("wxyz")))
    graph = th.MarkovGraph(model)
    assert graph.names == tuple("wxyz")
    assert graph.n_edges == model.n_edges_
    assert graph.neighbors("w")[0] == "x"
    assert graph.neighbors(0) == graph.neighbors("w")


def test_text():
    graph = th.MarkovGraph(CHAIN, names=["rain", "traffic", "delay"])
    assert repr(graph) == "MarkovGraph(3 columns, 2 edges)"
    assert str(graph).splitlines()[1:] == ["  traffic — delay  +0.707", "  rain — traffic  +0.500"]
    assert repr(th.MarkovGraph([[1.0]])) == "MarkovGraph(1 column, 0 edges)"
    dense = np.eye(8) + 0.1
    assert str(th.MarkovGraph(dense)).endswith("and 8 more")


def test_drawing():
    pytest.importorskip("matplotlib").use("agg")
    axes = course_graph().plot()
    assert len(axes.lines) == 5
    assert {text.get_text() for text in axes.texts} == set("12345")
    assert np.isfinite(axes.collections[0].get_offsets()).all()
    assert course_graph().plot(axes) is axes
    assert not th.MarkovGraph([[1.0]]).plot().lines


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: th.MarkovGraph([[1.0, 0.5], [0.1, 1.0]]), "symmetric"),
        (lambda: th.MarkovGraph([[1.0, 0.5]]), "as many rows as columns"),
        (lambda: th.MarkovGraph([[1.0, 0.0], [0.0, -1.0]]), "diagonal must be positive"),
        (lambda: th.MarkovGraph([[1.0, 2.0], [2.0, 1.0]]), "must be positive definite.*-1"),
        (lambda: th.MarkovGraph([[1.0, np.inf], [np.inf, 1.0]]), "finite|infinity|inf"),
        (lambda: th.MarkovGraph(CHAIN, tol=-1), "tol=-1 must be"),
        (lambda: th.MarkovGraph(CHAIN, names=["a"]), "3 different names"),
        (lambda: th.MarkovGraph(CHAIN, names=["a", "a", "b"]), "3 different names"),
        (lambda: th.MarkovGraph([[1.0, 2.0], [2.0, 1.0]]).covariance_edges, "positive definite"),
        (lambda: course_graph().neighbors(9), "no column 9"),
        (lambda: course_graph().is_separated([], 1), "at least one column"),
        (lambda: course_graph().is_separated(1, [1, 2]), "must be disjoint"),
        (lambda: course_graph().is_separated(1, 2, given=1), "must be disjoint"),
        (lambda: th.MarkovGraph(th.GraphicalLasso()), "not fitted"),
        (lambda: th.MarkovGraph(th.GaussianMixture()), "no get_precision"),
        (lambda: th.MarkovGraph(CHAIN, names=5), "3 different names"),
        (lambda: th.MarkovGraph(CHAIN, names=[[1], [2], [3]]), "3 different names"),
        (lambda: course_graph().neighbors(np.array([1, 2])), "no column array"),
        (lambda: course_graph().neighbors(["a"]), "no column .'a'."),
        (lambda: course_graph().neighbors(True), "no column True"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(ValueError, match=words):
        make()
