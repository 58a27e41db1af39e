"""
How many leaves and how many stages are enough
==============================================

A tree with more leaves always fits its training rows better. The loss falls steeply while the
leaves find the four levels of the true function, and bends where they begin to follow the noise.
Repeating the experiment with new rows gives the curve a band, and shows how often the bend is at
the same place.

Boosting adds a small tree at every stage. On new rows the error falls, and rises again once the
stages fit noise. The band shows from which stage on there is no significant improvement.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import mean_squared_error

import thetahat as th

random = np.random.default_rng(0)
x = random.uniform(0, 4, (200, 1))
y = np.array([0.0, 3.0, 1.0, 5.0])[x[:, 0].astype(int)] + 0.7 * random.standard_normal(200)

leaves = np.arange(2, 13)
losses = np.empty((leaves.size, 20))
for repetition in range(20):
    rows = random.choice(200, 200)
    for place, k in enumerate(leaves):
        tree = th.DecisionTreeRegressor(max_leaf_nodes=int(k)).fit(x[rows], y[rows])
        losses[place, repetition] = mean_squared_error(y[rows], tree.predict(x[rows]))

bend = th.elbow(leaves, losses)
print(bend)

# %%

data = th.datasets.make_linear(400, 5, noise=6.0, random_state=1)
model = th.GradientBoostingRegressor(n_estimators=150, random_state=0)
model.fit(data.X[:150], data.y[:150])
stages = th.staged_curve(model, data.X[150:], data.y[150:], score=mean_squared_error)
print(stages)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
bend.plot(left).set(xlabel="leaves", title="loss on learned rows")
stages.plot(right).set(title="error on fresh rows")
plt.show()
