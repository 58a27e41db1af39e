"""
Groups of news and of customers
===============================

Clustering needs no labels. K-means groups articles by the words they use, and the most frequent
words of each group show what it is about. A mixture of normal distributions groups customers by
what they buy; unlike k-means it allows groups of different size and spread, and it says how sure
the assignment of a customer is.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

STORIES = {
    "baseball": "pitcher inning series game home run coach phillies dodgers fans",
    "flu": "vaccine virus doctors clinic flu patients health cases hospital shots",
    "election": "vote runoff ballot president minister party poll results campaign fans",
    "software": "windows computer release users screen update keyboard price home series",
}
COMMON = "the of and to in a is that for on".split()
VOCABULARY = np.array(COMMON + sorted(set(" ".join(STORIES.values()).split())))


def articles(n, seed):
    """Word counts of short articles and the story of each."""
    random = np.random.default_rng(seed)
    story = random.integers(len(STORIES), size=n)
    share = np.full((len(STORIES), len(VOCABULARY)), 0.004)
    share[:, : len(COMMON)] = 0.05
    for row, words in zip(share, STORIES.values(), strict=True):
        row[np.isin(VOCABULARY, words.split())] = 0.04
    share /= share.sum(axis=1, keepdims=True)
    return np.array([random.multinomial(60, share[each]) for each in story]), story


counts, story = articles(240, seed=0)

# %%
# Common words are in every article and say nothing about it. Each word is therefore weighted by the
# logarithm of n divided by the number of articles that use it, and articles are scaled to the same
# length.

rarity = np.log(len(counts) / (counts > 0).sum(axis=0))
X = counts * rarity
X /= np.linalg.norm(X, axis=1, keepdims=True)
groups = th.KMeans(4, n_init=10, random_state=0).fit(X)
top_words = [VOCABULARY[np.argsort(-centre)[:4]] for centre in groups.cluster_centers_]
together = np.array(
    [[np.sum((groups.labels_ == g) & (story == s)) for s in range(4)] for g in range(4)]
)
pure = together.max(axis=1).sum() / len(story)
for words, row in zip(top_words, together, strict=True):
    print(f"{row.sum()} articles with the words {', '.join(words)}.")
print(f"{pure:.1%} of the articles are in a group of their own story.")

# %%
# Customers by the number of visits in a year and the money spent per visit.

random = np.random.default_rng(2)
kinds = [  # number, means, standard deviations and correlation of log visits and log money
    (260, (1.2, 3.3), (0.45, 0.35), 0.0),
    (160, (3.4, 2.6), (0.3, 0.3), -0.6),
    (80, (2.8, 4.6), (0.25, 0.25), 0.4),
]
customers = np.vstack(
    [
        random.multivariate_normal(
            mean, np.diag(spread) @ [[1, r], [r, 1]] @ np.diag(spread), size=n
        )
        for n, mean, spread, r in kinds
    ]
)
truth = np.repeat([0, 1, 2], [n for n, *_ in kinds])
scores = {
    k: th.GaussianMixture(k, n_init=3, random_state=0).fit(customers).bic(customers)
    for k in range(1, 7)
}
best = min(scores, key=scores.get)
mixture = th.GaussianMixture(best, n_init=3, random_state=0).fit(customers)
segment = mixture.predict(customers)
sure = mixture.predict_proba(customers).max(axis=1)
print(f"The Bayesian information criterion chooses {best} segments.")
for k in np.argsort(-mixture.weights_):
    visits, money = np.exp(mixture.means_[k])
    print(
        f"{mixture.weights_[k]:.0%} of the customers: {visits:.0f} visits, {money:.0f} per visit."
    )
print(f"{np.mean(sure > 0.9):.0%} of the customers are assigned with a probability above 0.9.")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
map_ = th.PCA(2).fit_transform(X)
for group, words in enumerate(top_words):
    left.plot(*map_[groups.labels_ == group].T, "o", ms=4, alpha=0.7, label=", ".join(words[:3]))
left.set(xlabel="first component", ylabel="second component", title="articles by k-means")
left.legend(frameon=False, fontsize=8, ncols=2, loc="lower center")
left.set_ylim(map_[:, 1].min() - 0.25, None)
right.scatter(*np.exp(customers).T, c=segment, cmap="viridis", s=4 + 16 * (sure > 0.9), alpha=0.7)
right.set(xscale="log", yscale="log", xlabel="visits per year", ylabel="money per visit")
right.set_title("customers by a mixture (small dots: in doubt)")
plt.show()
