"""
Approximate neighbours: recall against time
===========================================

An exact search measures every row. ``algorithm="approximate"`` walks through a graph of near rows
instead, and misses some neighbours. How many is a setting: `fit` chooses the width of the walks so
that held-out rows find the wanted share of their true neighbours, the recall.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
centres = random.standard_normal((50, 32))
X = centres[random.integers(0, 50, 8500)] + random.standard_normal((8500, 32))
X, new = X[:8000].astype(np.float32), X[8000:].astype(np.float32)

exact = th.NearestNeighbors(n_neighbors=10, algorithm="brute").fit(X)
farthest = exact.kneighbors(new)[0][:, -1:]

# %%
# The recall of new rows is close to the requested one, or better where the narrowest walk
# is enough already.

wanted, reached, seconds = [0.5, 0.7, 0.8, 0.9, 0.95, 0.97], [], []
for recall in wanted:
    algorithm = th.ApproximateSearch(recall=recall, n_links=8, width=16)
    search = th.NearestNeighbors(n_neighbors=10, algorithm=algorithm).fit(X)
    start = time.perf_counter()
    distance = search.kneighbors(new)[0]
    seconds.append(time.perf_counter() - start)
    reached.append(np.mean(distance <= farthest))

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
axes[0].plot(wanted, reached, "o-")
axes[0].plot([0.5, 1], [0.5, 1], ":", color="grey")
axes[0].set(xlabel="requested recall", ylabel="recall of new rows")
axes[1].plot(reached, np.array(seconds) / len(new) * 1e6, "o-")
axes[1].set(xlabel="recall of new rows", ylabel="microseconds per query", ylim=(0, None))
plt.show()

# %%
# Distances of the neighbours that are found are exact, and the result is the same for any number of
# threads. A graph of neighbours can be kept and used by other models: `KNeighborsTransformer` gives
# it as a sparse matrix of distances, and `kneighbors_graph` does the same in one call.

transformer = th.KNeighborsTransformer(n_neighbors=10, algorithm="approximate")
graph = transformer.fit_transform(X)
model = th.KNeighborsRegressor(metric="precomputed").fit(graph, X[:, 0])
print(f"{graph.nnz} distances, R² {model.score(transformer.transform(new), new[:, 0]):.2f}")

within = th.RadiusNeighborsTransformer(radius=4.0).fit_transform(X[:1000])
same = th.radius_neighbors_graph(X[:1000], 4.0, mode="distance", include_self=True)
print(abs(within - same).max() == 0, th.kneighbors_graph(X[:1000], 3).nnz)
