"""
Networks of genes and of stocks
===============================

Genes that regulate each other, or stocks that follow the same news, are correlated with almost all
others through chains of neighbours. The graphical lasso estimates a sparse inverse covariance; its
non-zero entries are the direct connections. Both tables are simulated from a known network, so the
edges that were found can be counted.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

GENES = {  # each gene and those that regulate it
    "A": {},
    "B": {"A": 0.8},
    "C": {"B": 0.8},
    "D": {"A": -0.7},
    "E": {"D": 0.8},
    "F": {},
    "G": {"F": 0.9},
    "H": {"F": -0.8},
    "I": {"H": 0.7},
}
STOCKS = {
    "market": {},
    "Apple": {"market": 0.8},
    "Google": {"Apple": 0.7},
    "Intel": {"Apple": 0.6},
    "oil": {},
    "Shell": {"oil": 0.9},
    "Exxon": {"oil": 0.9},
    "airline": {"market": 0.6, "oil": -0.6},
    "bank": {"market": 0.9},
}


def draw(network, n, seed):
    """Rows of a Gaussian in which every variable is a sum of its causes and noise."""
    random = np.random.default_rng(seed)
    names = list(network)
    X = random.standard_normal((n, len(names)))
    for name, causes in network.items():
        for cause, strength in causes.items():
            X[:, names.index(name)] += strength * X[:, names.index(cause)]
    return X / X.std(axis=0)


def true_edges(network):
    """Pairs that are connected: causes with effects, and causes of the same effect."""
    pairs = {frozenset((name, cause)) for name, causes in network.items() for cause in causes}
    return pairs | {
        frozenset((one, other))
        for causes in network.values()
        for one in causes
        for other in causes
        if one != other
    }


graphs = {}
for title, network, n in (("gene expression", GENES, 150), ("stock returns", STOCKS, 250)):
    X = draw(network, n, seed=1)
    model = th.GraphicalLasso(0.08).fit(X)
    graph = th.MarkovGraph(model, names=list(network), tol=0.08)
    found = {frozenset(edge) for edge in graph.edges}
    true = true_edges(network)
    correlated = np.sum(np.abs(np.triu(np.corrcoef(X, rowvar=False), 1)) > 0.2)
    graphs[title] = graph, len(found & true), len(true)
    print(f"{title}: {correlated} pairs have a correlation above 0.2, {len(found)} are connected;")
    print(f"{len(found & true)} of the {len(true)} true connections are among them.")

stocks = graphs["stock returns"][0]
print("Google and Intel, given Apple, are independent:",
      stocks.is_separated("Google", "Intel", given="Apple"))  # fmt: skip

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, (title, (graph, right, total)) in zip(axes, graphs.items(), strict=True):
    graph.plot(ax)
    ax.set_title(f"{title}: {right} of {total} connections found")
plt.show()
