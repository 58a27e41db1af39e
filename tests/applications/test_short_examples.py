"""Examples from many fields, by what each must find."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score


def test_two_components_of_genomes_are_the_map(example):
    genomes = example("genome_map")
    assert genomes.X.shape == (1400, 20_000)
    assert set(np.unique(genomes.X)) == {0, 1, 2}
    assert min(genomes.correlation) > 0.99
    centred = genomes.z - genomes.z.mean(axis=0)
    assert LinearRegression().fit(centred, genomes.place).score(centred, genomes.place) > 0.98
    assert genomes.nearest > 0.95
    peer = (genomes.X[:50] - genomes.model.mean_) @ genomes.model.components_.T
    np.testing.assert_allclose(genomes.z[:50], peer, atol=1e-2)


def test_news_are_grouped_by_story(example):
    news = example("news_and_customers")
    assert adjusted_rand_score(news.story, news.groups.labels_) > 0.98
    assert news.pure == pytest.approx(news.together.max(axis=1).sum() / 240)
    for centre, label in zip(news.groups.cluster_centers_, range(4), strict=True):
        members = news.X[news.groups.labels_ == label]
        np.testing.assert_allclose(centre, np.asarray(members).mean(axis=0), atol=1e-8)
    for group, words in enumerate(news.top_words):
        story = list(news.STORIES.values())[news.together[group].argmax()].split()
        assert set(words) <= set(story)


def test_segments_of_customers_are_found(example):
    shop = example("news_and_customers")
    assert shop.best == 3
    assert adjusted_rand_score(shop.truth, shop.segment) > 0.97
    assert sorted(shop.mixture.weights_) == pytest.approx([0.16, 0.32, 0.52], abs=0.01)


def test_networks_have_the_true_connections(example):
    networks = example("gene_and_stock_networks")
    genes, right, total = networks.graphs["gene expression"]
    assert (right, total) == (7, 7)
    assert genes.n_edges <= 9
    assert genes.is_separated("A", "F")
    stocks, right, total = networks.graphs["stock returns"]
    assert right >= 8
    assert total == 9
    assert stocks.is_separated("Google", "Intel", given="Apple")
    np.testing.assert_allclose(networks.model.location_, networks.X.mean(axis=0), atol=1e-12)


def test_hedge_nears_the_best_expert(example):
    market = example("stock_experts")
    assert market.best == "trend continues"
    assert 0 <= market.losses.min() <= market.losses.max() <= 1
    assert 0 < market.regret <= market.bound
    assert market.bound == pytest.approx(np.sqrt(2 * 750 * np.log(5)) + np.log(5))
    weights = np.array(market.weights)
    assert weights[-1].argmax() == 1
    played = np.vstack([np.full(5, 0.2), weights[:-1]])
    np.testing.assert_allclose(np.sum(played * market.losses, axis=1), market.run.losses)


def test_the_small_table_of_ratings_is_completed_at_rank_one(example):
    films = example("ratings")
    expected = np.outer([1, 2, 6, 2, 4], [1, 1, 1.5])
    np.testing.assert_allclose(films.completed, expected, atol=1e-3)
    assert np.abs(films.one_step - expected).max() > 1
    given = ~np.isnan(films.small)
    np.testing.assert_array_equal(films.completed[given], films.small[given])


def test_ratings_are_predicted_better_than_by_means(example):
    films = example("ratings")
    assert not np.any(films.held_out & ~np.isnan(films.ratings))
    assert min(films.errors) < 0.3 * min(films.error(guess) for guess in films.simple.values())
    assert 3 <= films.best <= 5


def test_tasks_of_three_kinds(example):
    tasks = example("task_types")
    assert tasks.accuracy.low > 0.8
    weights = dict(zip(tasks.WORDS, tasks.sentiment.coef_[0], strict=True))
    assert min(weights[word] for word in tasks.WORDS[:5]) > 1
    assert max(weights[word] for word in tasks.WORDS[5:10]) < -1
    assert tasks.table.accuracy.estimate > 0.9
    assert tasks.errors["boosted trees"] < 0.4 * tasks.errors["linear regression"]


def test_hiring_by_costs(example):
    office = example("hiring")
    hired = office.decided.labels == "hire"
    np.testing.assert_array_equal(hired, office.probability[:, 1] > 0.8)
    costs = [office.mean_cost(each) for each in (office.half, office.decided.labels)]
    assert costs[1] < 0.7 * costs[0]
    assert office.mean_cost(office.careful.labels) < costs[1]
    asked = office.careful.labels == "ask"
    np.testing.assert_array_equal(asked, office.decided.risk > office.INTERVIEW)
    assert office.best.threshold == pytest.approx(office.threshold, abs=0.05)
