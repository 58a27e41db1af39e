"""
What each column adds to a prediction
=====================================

A prediction is the mean prediction plus a contribution of each column, its Shapley value. They are
exact for trees, forests, boosting and linear models, and add up to the prediction of every row.
"""

import matplotlib.pyplot as plt
import pandas as pd

import thetahat as th

data = th.datasets.load_abalone()
X = pd.DataFrame(data.X, columns=data.feature_names)
model = th.HistGradientBoostingRegressor(max_iter=60).fit(X, data.y)
found = th.explain(model, X)
print(found)
gap = abs(found.predictions - model.predict(X)).max()
print(f"They add up to the predictions up to {gap:.0e}.")

# %%
# All rows: each point is a row, coloured by its value of the column, from small (blue) to large
# (red). A heavy shell (red) adds rings; much meat for its shell removes them.

found.plot()
plt.show()

# %%
# One row: the largest contributions to its prediction.

found.plot(row=0)
plt.show()
