"""
Elastic net and lasso on correlated columns
===========================================

Three columns are noisy copies of one signal, three others are copies of a second signal, and four
are noise. The lasso keeps one copy of each signal and drops the others, and another sample of rows
may keep another copy. The elastic net adds a squared penalty, so that the copies share their
weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(2)


def draw(rows=80):
    """Two hidden signals, three noisy copies of each, four columns of noise."""
    hidden = random.standard_normal((rows, 2))
    copies = np.repeat(hidden, 3, axis=1) + 0.1 * random.standard_normal((rows, 6))
    X = np.hstack([copies, random.standard_normal((rows, 4))])
    return X, 3 * hidden[:, 0] - 2 * hidden[:, 1] + random.standard_normal(rows)


draws = [draw() for _ in range(40)]
models = {
    "Lasso": [th.Lasso(alpha=0.1).fit(X, y).coef_ for X, y in draws],
    "ElasticNet": [th.ElasticNet(alpha=0.3, l1_ratio=0.3).fit(X, y).coef_ for X, y in draws],
}
by_folds = th.ElasticNetCV(l1_ratio=[0.1, 0.5, 0.9]).fit(*draws[0])
print(f"folds choose a share of L1 of {by_folds.l1_ratio_} and a penalty of {by_folds.alpha_:.3f}")

# %%
# One dot per sample: how much a coefficient changes from one sample to the next.

figure, panels = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for panel, (name, coefficients) in zip(panels, models.items(), strict=True):
    for j, column in enumerate(np.array(coefficients).T):
        place = j + 1 + 0.15 * random.uniform(-1, 1, column.size)
        panel.plot(place, column, ".", color=("C0", "C3", "0.6")[min(j // 3, 2)], ms=4)
    panel.axhline(0.0, color="black", lw=0.6)
    panel.set(title=name, xlabel="column", xticks=range(1, 11))
panels[0].set(ylabel="coefficient")
plt.show()
