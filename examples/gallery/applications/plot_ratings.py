"""
Film ratings that were never given
==================================

Rows are users, columns are films, and most entries are missing. If tastes depend on a few
properties of the films, the complete matrix has a low rank. Iterated singular values fill it in:
start with a simple guess, replace the matrix by its best approximation of low rank, put the known
ratings back, and repeat.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th


def complete(ratings, rank, n_steps, start=None):
    """Fill the missing entries (NaN) so that the matrix comes close to the given rank.

    Returns the matrix and the largest change of an entry in each step.
    """
    known = ~np.isnan(ratings)
    first = np.nanmean(ratings, axis=0) if start is None else start
    filled = np.where(known, ratings, first)
    changes = []
    for _ in range(n_steps):
        low = th.lowrank.best_rank(filled, rank).matrix()
        changes.append(np.abs(low - filled)[~known].max())
        filled = np.where(known, ratings, low)
    return filled, changes


# %%
# A small table of rank 1. The columns of the first two films are equal, and the third is 3/2 of
# them: only one completion has rank 1. A single step from zeros does not find it; iteration does.

unknown = np.nan
small = np.array([
    [1, unknown, unknown],
    [unknown, 2, unknown],
    [unknown, 6, 9],
    [unknown, unknown, 3],
    [4, 4, unknown],
])  # fmt: skip
one_step, _ = complete(small, rank=1, n_steps=1, start=0.0)
completed, changes = complete(small, rank=1, n_steps=3000)
print("One step from zeros:")
print(one_step.round(2))
print("Repeated until nothing changes:")
print(completed.round(2))

# %%
# Now 200 users and 80 films. A user rates about a third of the films. A rating depends on three
# hidden properties of the film, such as the amount of action and of romance, on how generous the
# user is and on how popular the film is. A tenth of the ratings is held out for the comparison.

random = np.random.default_rng(0)
tastes = random.normal(0, 0.7, (200, 3)) @ random.normal(0, 1.0, (3, 80))
level = 3.2 + random.normal(0, 0.4, (200, 1)) + random.normal(0, 0.5, 80)
truth = level + tastes
rated = random.random(truth.shape) < 0.35
held_out = rated & (random.random(truth.shape) < 0.1)
noisy = truth + random.normal(0, 0.3, truth.shape)
ratings = np.where(rated & ~held_out, noisy, np.nan)


def error(filled):
    """Root mean squared error of the held-out ratings."""
    return np.sqrt(np.mean((filled - noisy)[held_out] ** 2))


known = ~np.isnan(ratings)
simple = {
    "global mean": np.full(truth.shape, np.nanmean(ratings)),
    "mean of the user": np.nanmean(ratings, axis=1, keepdims=True) + np.zeros(80),
    "mean of the film": np.nanmean(ratings, axis=0) + np.zeros((200, 1)),
}
for name, guess in simple.items():
    print(f"Error of the {name}: {error(guess):.3f}.")
ranks = [1, 2, 3, 4, 5, 6, 8]
errors = [error(complete(ratings, rank, n_steps=60)[0]) for rank in ranks]
best = ranks[int(np.argmin(errors))]
print(f"Error of the completed matrix of rank {best}: {min(errors):.3f} (noise of a rating: 0.3).")

# %%

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10.5, 3.8), layout="constrained", width_ratios=[1, 1, 1.3]
)
filled, _ = complete(ratings, best, n_steps=60)
for ax, matrix, title in (
    (left, ratings, "ratings that were given"),
    (middle, filled, "completed"),
):
    shown = ax.imshow(matrix[:60, :60], cmap="viridis", vmin=0, vmax=6)
    ax.set(title=title, xlabel="films", ylabel="users")
figure.colorbar(shown, ax=middle, label="rating", shrink=0.8)
right.plot(ranks, errors, "o-", label="completed at low rank")
right.axhline(error(simple["mean of the film"]), color="C1", ls="--", label="mean of the film")
right.axhline(0.3, color="0.6", ls=":", label="noise of a rating")
right.set(xlabel="rank", ylabel="error on held-out ratings", ylim=(0, None))
right.legend(frameon=False, loc=(0.36, 0.66), fontsize=8)
plt.show()
