"""
Topics of a document by non-negative sparse regression
======================================================

Each column of X is the word histogram of one topic, and y is the word histogram of a document. If
the document mixes a few topics, y ≈ Xβ with few non-zero weights, none of them negative. The
non-negative lasso and non-negative orthogonal matching pursuit find such weights; least squares
gives a weight to every topic, some of them negative.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

TOPICS = {
    "football": "goal team match coach league score player season",
    "politics": "vote party minister law election debate season coach",
    "weather": "rain wind cloud storm season degree forecast cold",
    "music": "song band concert album stage score player record",
    "finance": "bank market share price rate record debt investor",
    "health": "doctor patient vaccine virus rate study cold drug",
    "travel": "flight hotel ticket beach season train price island",
    "cooking": "salt butter oven recipe sauce stage cold degree",
    "space": "rocket orbit planet launch stage star mission record",
    "school": "teacher pupil exam class lesson study score holiday",
}
COMMON = ["the", "of", "and", "to", "in", "is", "that", "for"]
WORDS = COMMON + sorted(set(" ".join(TOPICS.values()).split()))

random = np.random.default_rng(3)
X = np.zeros((len(WORDS), len(TOPICS)))
X[: len(COMMON)] = 0.05
for column, words in enumerate(TOPICS.values()):
    places = [WORDS.index(word) for word in words.split()]
    X[places, column] = 0.6 * random.dirichlet(np.full(len(places), 4.0))

truth = np.zeros(len(TOPICS))
truth[[0, 4, 6]] = 0.5, 0.3, 0.2
y = random.multinomial(150, X @ truth) / 150

# %%
# A document of 150 words: 50% about football, 30% about finance and 20% about travel.

lasso = th.Lasso(alpha=6e-5, positive=True, fit_intercept=False, tol=1e-8).fit(X, y).coef_
model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=3, positive=True, fit_intercept=False)
pursuit = model.fit(X, y).coef_
ordinary = th.LinearRegression(fit_intercept=False).fit(X, y).coef_
names = np.array(list(TOPICS))
for title, weights in (
    ("The lasso", lasso),
    ("Matching pursuit", pursuit),
    ("Least squares", ordinary),
):
    parts = ", ".join(
        f"{name} {weight:.2f}"
        for name, weight in zip(names, weights, strict=True)
        if abs(weight) > 1e-12
    )
    print(f"{title} finds {np.sum(np.abs(weights) > 1e-12)} topics: {parts}.")

# %%
# With a larger penalty topics leave the document one by one; the true topics stay longest.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
places = np.arange(len(names))
for shift, weights, title in (
    (-0.27, truth, "truth"),
    (-0.09, lasso, "lasso, β ≥ 0"),
    (0.09, pursuit, "pursuit, β ≥ 0"),
    (0.27, ordinary, "least squares"),
):
    color = "black" if title == "truth" else None
    left.barh(places + shift, weights, height=0.18, label=title, color=color)
left.set_yticks(places, names)
left.invert_yaxis()
left.axvline(0, color="black", lw=0.6)
left.set(xlabel="weight", title="topics of the document")
left.legend(frameon=False, loc="lower right")
alphas = np.geomspace(1e-3, 1e-6, 60)
path = th.lasso_path(X, y, alphas=alphas, positive=True)[1]
for name, weights, is_true in zip(names, path, truth > 0, strict=True):
    label = name if is_true else None
    right.semilogx(
        alphas, weights, lw=2 if is_true else 1, label=label, color=None if is_true else "0.6"
    )
right.plot([], [], color="0.6", lw=1, label="other topics")
right.set(xlabel="penalty alpha", ylabel="weight", title="path of the non-negative lasso")
right.set_ylim(None, 0.68)
right.legend(frameon=False, loc="upper right", ncols=2)
plt.show()
