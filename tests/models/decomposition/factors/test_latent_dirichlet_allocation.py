import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import gammaln
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import thetahat as th
from tests.data.chunked import Chunked, OnlyBlocks
from tests.reference.factors.topics import expected_logs, topic_shares
from thetahat.errors import DataError, ParameterError

METHODS = ["batch", "online"]


def documents(n=60, d=30, k=3, length=40, seed=0):
    """Counts of words, with the shares of the topics and their words."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(d, 0.1), k)
    shares = rng.dirichlet(np.full(k, 0.3), n)
    return rng.poisson(length * shares @ words).astype(float), shares, words


def bound(X, components, gamma, values, alpha, eta):
    """The evidence lower bound, term by term."""
    found = values.sum()
    for parameters, prior in ((gamma, alpha), (components, eta)):
        k = parameters.shape[1]
        found += ((prior - parameters) * expected_logs(parameters)).sum()
        found += (gammaln(parameters) - gammaln(prior)).sum()
        found += (gammaln(k * prior) - gammaln(parameters.sum(axis=1))).sum()
    return found


def test_a_batch_iteration_is_the_update_of_the_formula():
    X, _, _ = documents()
    start = th.LatentDirichletAllocation(3, max_iter=0, random_state=0).fit(X).components_
    model = th.LatentDirichletAllocation(
        3, max_iter=1, random_state=0, doc_topic_prior=0.2, topic_word_prior=0.05
    ).fit(X)
    _, _, counts = topic_shares(X, start, 0.2, 100, 1e-3)
    np.testing.assert_allclose(model.components_, 0.05 + counts, rtol=1e-9)
    assert model.n_iter_ == 1
    assert model.n_batch_iter_ == 2


def test_an_online_step_blends_the_batch_with_the_topics():
    X, _, _ = documents(n=20)
    start = th.LatentDirichletAllocation(3, max_iter=0, random_state=0).fit(X).components_
    model = th.LatentDirichletAllocation(3, random_state=0, total_samples=100).partial_fit(X)
    _, _, counts = topic_shares(X, start, 1 / 3, 100, 1e-3)
    rate = 11.0**-0.7
    expected = (1 - rate) * start + rate * (1 / 3 + 100 / 20 * counts)
    np.testing.assert_allclose(model.components_, expected, rtol=1e-9)


def test_score_is_the_evidence_lower_bound():
    X, _, _ = documents()
    model = th.LatentDirichletAllocation(
        3, random_state=0, doc_topic_prior=0.2, topic_word_prior=0.05
    ).fit(X)
    gamma, values, _ = topic_shares(X, model.components_, 0.2, 100, 1e-3)
    expected = bound(X, model.components_, gamma, values, 0.2, 0.05)
    assert model.score(X) == pytest.approx(expected, rel=1e-9)
    assert model.perplexity(X) == pytest.approx(np.exp(-expected / X.sum()), rel=1e-9)
    assert model.bound_ == pytest.approx(model.perplexity(X), rel=1e-12)


def test_shares_and_bounds_of_given_topics_are_those_of_scikit_learn():
    X, _, _ = documents()
    model = th.LatentDirichletAllocation(4, random_state=0).fit(X)
    peer = decomposition.LatentDirichletAllocation(4, max_iter=1, random_state=0).fit(X)
    peer.components_ = model.components_
    peer.exp_dirichlet_component_ = model.exp_dirichlet_component_
    np.testing.assert_allclose(model.transform(X), peer.transform(X), rtol=1e-6)
    expected = peer.transform(X, normalize=False)
    np.testing.assert_allclose(model.transform(X, normalize=False), expected, rtol=1e-5)
    assert model.score(X) == pytest.approx(peer.score(X), rel=1e-7)
    for sampled in (False, True):
        expected = peer.perplexity(X, sub_sampling=sampled)
        assert model.perplexity(X, sub_sampling=sampled) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_perplexity_is_that_of_scikit_learn(method):
    """Both depend on the start, so that several starts are compared."""
    X, _, _ = documents(n=150, k=4)
    settings = dict(n_components=4, learning_method=method, batch_size=50)
    ours = [th.LatentDirichletAllocation(random_state=i, **settings).fit(X) for i in range(2)]
    theirs = [
        decomposition.LatentDirichletAllocation(random_state=i, **settings).fit(X) for i in range(2)
    ]
    best = min(each.bound_ for each in theirs)
    assert min(each.bound_ for each in ours) <= 1.02 * best


@pytest.mark.parametrize("method", METHODS)
def test_planted_topics_are_found(method):
    X, shares, words = documents(n=500, length=80)
    models = [
        th.LatentDirichletAllocation(
            3, learning_method=method, max_iter=30, random_state=seed, batch_size=100
        ).fit(X)
        for seed in range(3)
    ]
    model = min(models, key=lambda each: each.bound_)
    found = model.components_ / model.components_.sum(axis=1, keepdims=True)
    order = [int(np.argmin(np.abs(found - each).sum(axis=1))) for each in words]
    assert sorted(order) == [0, 1, 2]
    assert np.abs(found[order] - words).sum(axis=1).max() < 0.2
    assert np.abs(model.transform(X)[:, order] - shares).mean() < 0.05


def test_batch_iterations_lower_the_perplexity():
    X, _, _ = documents(n=120)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = th.LatentDirichletAllocation(
            3, evaluate_every=1, perp_tol=0, max_iter=15, random_state=1
        ).fit(X)
    trace = np.array(model.solution_.trace)
    assert len(trace) == 15
    assert np.all(np.diff(trace) < 1e-3 * trace[:-1])
    assert trace[-1] < 0.9 * trace[0]


def test_small_changes_of_the_perplexity_end_the_fit():
    X, _, _ = documents()
    model = th.LatentDirichletAllocation(
        3, evaluate_every=2, perp_tol=1.0, max_iter=200, random_state=0
    ).fit(X)
    assert model.n_iter_ < 200
    assert model.n_iter_ % 2 == 0
    assert model.solution_.outcome.success
    assert abs(model.solution_.trace[-1] - model.solution_.trace[-2]) < 1.0


@pytest.mark.parametrize("method", METHODS)
def test_dense_rows_sparse_rows_and_tables_agree(method):
    X, _, _ = documents()
    fit = th.LatentDirichletAllocation(3, learning_method=method, random_state=0).fit
    expected = fit(X).components_
    shuffled = sp.coo_array(X).tocsr()
    shuffled.indices, shuffled.data = shuffled.indices.copy(), shuffled.data.copy()
    first = slice(0, shuffled.indptr[1])  # words of the first document in another order
    shuffled.indices[first] = shuffled.indices[first][::-1]
    shuffled.data[first] = shuffled.data[first][::-1]
    shuffled.has_sorted_indices = False
    for each in (sp.csr_array(X), sp.csc_matrix(X), shuffled, pd.DataFrame(X), X.astype(int)):
        np.testing.assert_allclose(fit(each).components_, expected, rtol=1e-12)


def test_a_file_gives_the_topics_of_the_same_rows(tmp_path):
    X, _, _ = documents(n=40)
    table = pd.DataFrame(X, columns=[f"w{i}" for i in range(X.shape[1])])
    table.to_csv(tmp_path / "counts.csv", index=False)
    model = th.LatentDirichletAllocation(3, random_state=0)
    expected = model.fit(X).components_
    found = model.fit(th.scan(tmp_path / "counts.csv")).components_
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_documents_of_all_blocks_start_the_topics(method):
    """Also if the first blocks of a file have documents of one topic only."""
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(30, 0.1), 4)
    X = np.array([rng.multinomial(40, words[i // 600]) for i in range(2400)]).astype(float)
    model = th.LatentDirichletAllocation(4, learning_method=method, max_iter=2, random_state=0)
    expected = model.fit(X).components_
    blocks = OnlyBlocks(rows=Chunked(X=X, n_features=30), n_features=30)
    found = model.fit(blocks).components_
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_single_precision_is_accurate():
    X, _, _ = documents()
    model = th.LatentDirichletAllocation(3, random_state=0)
    expected = model.fit(X).components_
    found = model.fit(X.astype(np.float32))
    assert found.components_.dtype == found.exp_dirichlet_component_.dtype == np.float32
    np.testing.assert_allclose(found.components_, expected, rtol=1e-6)


def test_small_priors_give_every_word_a_topic():
    """exp(E log β) of every topic underflows for words that were not seen."""
    X, _, _ = documents(d=10)
    X[:, -1] = 0
    model = th.LatentDirichletAllocation(3, topic_word_prior=1e-4, random_state=0).fit(X)
    assert model.exp_dirichlet_component_[:, -1].max() == 0
    new = np.zeros((1, 10))
    new[0, -1] = 6.0
    gamma = model.transform(new, normalize=False)
    assert gamma.sum() == pytest.approx(6 + 1)
    assert np.isfinite(model.perplexity(new))


def test_documents_without_words_have_the_prior_shares():
    X, _, _ = documents(n=10)
    X[3] = 0
    model = th.LatentDirichletAllocation(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(X)[3], np.full(4, 0.25))
    with pytest.raises(th.errors.DataError, match=r"perplexity: X contains no words"):
        model.perplexity(X[3:4])
    assert np.isfinite(model.score(X[3:4]))
    assert np.isfinite(model.perplexity(X[2:4]))
    nothing = th.LatentDirichletAllocation(2).fit(np.zeros((3, 5)))
    np.testing.assert_allclose(nothing.components_, 0.5)


def test_batches_go_on_from_each_other():
    X, _, _ = documents(n=90)
    model = th.LatentDirichletAllocation(3, random_state=0, total_samples=90, batch_size=30)
    whole = th.LatentDirichletAllocation(
        3, random_state=0, total_samples=90, batch_size=30
    ).partial_fit(np.concatenate([X[:30], X]))
    model.partial_fit(X[:30]).partial_fit(X)
    assert model.n_batch_iter_ == whole.n_batch_iter_ == 5
    assert model.perplexity(X) == pytest.approx(whole.perplexity(X), rel=0.2)
    before = model.components_.copy()
    model.partial_fit(X[60:])
    rate = 15.0**-0.7
    _, _, counts = topic_shares(X[60:], before, 1 / 3, 100, 1e-3)
    expected = (1 - rate) * before + rate * (1 / 3 + 3 * counts)
    np.testing.assert_allclose(model.components_, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, 1:])


@pytest.mark.parametrize("method", METHODS)
def test_topics_without_common_words_are_always_found(method):
    X = np.kron(np.eye(4), np.full((3, 3), 3.0))
    for seed in range(10):
        model = th.LatentDirichletAllocation(4, learning_method=method, random_state=seed).fit(X)
        tops = {tuple(sorted(each.argsort()[-3:].tolist())) for each in model.components_}
        assert tops == {(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)}


def test_bad_input_is_named():
    X, _, _ = documents(n=5)
    with pytest.raises(NotFittedError):
        th.LatentDirichletAllocation().perplexity(X)
    X[2, 4] = -1
    with pytest.raises(DataError, match=r"Negative values.*column 4, row 2 holds -1"):
        th.LatentDirichletAllocation().fit(X)
    with pytest.raises(DataError, match="Negative values"):
        th.LatentDirichletAllocation(2).fit(abs(X)).transform(sp.csr_array(X))
    with pytest.raises(ParameterError, match="doc_topic_prior"):
        th.LatentDirichletAllocation(doc_topic_prior=0).fit(abs(X))
    with pytest.raises(ParameterError, match="learning_method"):
        th.LatentDirichletAllocation(learning_method="other").fit(abs(X))


def test_an_interrupt_leaves_the_topics_so_far(monkeypatch):
    X, _, _ = documents()
    printed = []

    def interrupting(line):
        printed.append(line)
        if len(printed) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", interrupting)
    model = th.LatentDirichletAllocation(3, max_iter=50, verbose=1, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    monkeypatch.undo()
    assert model.transform(X).shape == (60, 3)
    assert model.solution_.steps == 2
    assert "interrupted" in model.solution_.outcome.value
