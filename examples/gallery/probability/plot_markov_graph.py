"""
Markov graph by the graphical lasso
===================================

Eight quantities of a town day: the weather drives traffic and bicycles, traffic drives delays and
noise. Almost all of them are correlated, but each one is independent of most others, given its
neighbours. The zeros of the precision matrix show this; the graphical lasso finds them from 300
days.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

NAMES = ["season", "rain", "bicycles", "traffic", "delay", "noise", "complaints", "umbrellas"]
CAUSES = {
    "rain": {"season": 0.7},
    "bicycles": {"rain": -0.8},
    "traffic": {"rain": 0.5, "bicycles": -0.6},
    "delay": {"traffic": 0.8},
    "noise": {"traffic": 0.8},
    "complaints": {"delay": 0.6, "noise": 0.6},
    "umbrellas": {"rain": 1.0},
}


def days(n, seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, len(NAMES)))
    for effect, causes in CAUSES.items():
        for cause, strength in causes.items():
            X[:, NAMES.index(effect)] += strength * X[:, NAMES.index(cause)]
    return X / X.std(axis=0)


X = days(300, seed=0)
model = th.GraphicalLassoCV(alphas=6).fit(X)
graph = th.MarkovGraph(model, names=NAMES, tol=0.1)
print(graph)

# %%
# Given the traffic, the rain says nothing more about the delay.

print("rain ⟂ delay:", graph.is_separated("rain", "delay"))
print("rain ⟂ delay | traffic:", graph.is_separated("rain", "delay", given="traffic"))
print("Markov blanket of traffic:", graph.markov_blanket("traffic"))

# %%
# The correlations on the left have few zeros. The graph on the right shows the partial correlations
# that are not zero: wide edges are strong, blue ones positive.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
scale = np.sqrt(np.diag(model.covariance_))
shown = left.imshow(model.covariance_ / np.outer(scale, scale), cmap="RdBu", vmin=-1, vmax=1)
left.set_xticks(range(len(NAMES)), NAMES, rotation=60, ha="right")
left.set_yticks(range(len(NAMES)), NAMES)
left.set_title("correlations")
figure.colorbar(shown, ax=left, shrink=0.8)
graph.plot(right)
right.set_title(f"Markov graph, alpha = {model.alpha_:.3f}")
plt.show()

# %%
# A larger penalty gives fewer edges in the end, though an edge can also return on the way.
# Cross-validation prefers a small penalty, which keeps some weak edges beside the strong ones;
# ``tol`` leaves them out of the graph.

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
alphas = np.geomspace(0.002, 1.0, 30)
axes.semilogx(alphas, [th.GraphicalLasso(alpha).fit(X).n_edges_ for alpha in alphas])
axes.axvline(model.alpha_, linestyle="--", color="grey")
axes.set(xlabel="alpha", ylabel="edges", title="Number of edges")
plt.show()
