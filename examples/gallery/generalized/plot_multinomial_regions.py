"""
Several classes: regions of the softmax
=======================================

With one score per class, P(y = c | x) = e^{z_c}/Σ_j e^{z_j}. The most likely class changes where
two scores are equal, which is along straight lines. Darker colours show a higher probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb

import thetahat as th

random = np.random.default_rng(2)
centres = np.array([[0.0, 2.0], [-2.0, -1.0], [2.2, -1.2], [0.2, -0.2]])
y = np.repeat(np.arange(4), 60)
X = centres[y] + random.normal(0.0, 0.8, (240, 2))
model = th.LogisticRegression(C=10.0).fit(X, y)

# %%
# Each point has the colour of its most likely class, paler where the other classes are almost as
# likely.

axis = np.linspace(-5, 5, 300)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
probability = model.predict_proba(grid)
colours = np.array([to_rgb(name) for name in ("tab:blue", "tab:orange", "tab:green", "tab:red")])
sureness = probability.max(axis=1, keepdims=True)
picture = 1 - sureness * (1 - colours[probability.argmax(axis=1)])

figure, panel = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
panel.imshow(
    picture.reshape(300, 300, 3), origin="lower", extent=(-5, 5, -5, 5), alpha=0.6, aspect="equal"
)
panel.scatter(*X.T, c=colours[y], s=16, edgecolor="white", lw=0.5)
panel.set(
    xlabel="$x_1$", ylabel="$x_2$", title=f"{model.score(X, y):.0%} of the rows on their side"
)
plt.show()
