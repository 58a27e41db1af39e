"""
The perceptron and its mistakes
===============================

The perceptron changes its weights only after a mistake: w ← w + y·x. Where a unit vector separates
the classes with margin ρ and no row is longer than R, it makes at most R²/ρ² mistakes, for any
order of the rows. The wider the gap between the classes, the fewer the mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(4)
normal = np.array([0.6, 0.8])


def classes_apart(margin, n=200):
    """Rows in the unit disc, at least `margin` from the line through 0 with that normal."""
    angle, radius = random.uniform(0, 2 * np.pi, 4 * n), random.random(4 * n) ** 0.5
    X = radius[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    X = X[np.abs(X @ normal) >= margin][:n]
    return X, np.sign(X @ normal)


X, y = classes_apart(0.1)
model = th.Perceptron(fit_intercept=False, tol=None, max_iter=100).fit(X, y)

# %%
# Left: the line that was found, one of many that separate the classes. Right: the number of
# mistakes for many margins, below the bound of the theorem.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for label, color in ((-1, "tab:orange"), (1, "tab:blue")):
    left.scatter(*X[y == label].T, s=12, color=color, label=f"y = {label:+d}")
along = np.array([-1.2, 1.2])
for w, style, name in ((model.coef_[0], "k-", "perceptron"), (normal, "k:", "the true line")):
    left.plot(
        -along * w[1] / np.linalg.norm(w), along * w[0] / np.linalg.norm(w), style, label=name
    )
left.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
left.set_title(f"{model.n_mistakes_[0]} mistakes")
left.legend(loc="lower left", framealpha=0.9)

margins = np.geomspace(0.01, 0.5, 40)
mistakes, bounds = [], []
for margin in margins:
    X, y = classes_apart(margin)
    fitted = th.Perceptron(fit_intercept=False, tol=None, max_iter=300).fit(X, y)
    mistakes.append(fitted.n_mistakes_[0])
    bounds.append((np.linalg.norm(X, axis=1).max() / np.abs(X @ normal).min()) ** 2)
right.loglog(margins, bounds, "k-", label="R²/ρ²")
right.loglog(margins, mistakes, "o", color="tab:red", label="mistakes")
right.set(xlabel="margin ρ", ylabel="number")
right.legend(frameon=False)
plt.show()
