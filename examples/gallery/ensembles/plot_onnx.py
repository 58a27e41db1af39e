"""
The same predictions without Python
===================================

`to_onnx` writes a fitted model as an ONNX graph: a list of matrix products, comparisons and sums
that many runtimes and devices evaluate without Python. The graph has the same predictions as the
model, up to rounding errors.
"""

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import thetahat as th

X, y = load_diabetes(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
models = {
    "Ridge": make_pipeline(th.Standardizer(), th.Ridge()),
    "SVR": make_pipeline(th.Standardizer(), th.SVR(C=100.0)),
    "RandomForestRegressor": th.RandomForestRegressor(random_state=0),
    "HistGradientBoostingRegressor": th.HistGradientBoostingRegressor(max_iter=50),
}


def evaluate(graph, rows):
    """The predictions of a graph, as another program would compute them."""
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return session.run(["predictions"], {"X": rows})[0]


errors = {}
for name, model in models.items():
    expected = model.fit(X, y).predict(X_new)
    double = evaluate(th.to_onnx(model), X_new)
    single = evaluate(th.to_onnx(model, dtype=np.float32), X_new.astype(np.float32))
    errors[name] = [np.abs(found / expected - 1).max() for found in (double, single)]
    print(f"{name}: {errors[name][0]:.0e} in double precision, {errors[name][1]:.0e} in single.")

# %%
# In double precision the largest relative difference is that of rounding errors. In single
# precision a row of a tree model can take another branch only if its own numbers were rounded
# across a threshold.

places = np.arange(len(errors))
values = np.maximum(list(errors.values()), 1e-17)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for shift, column, label in ((-0.18, 0, "double precision"), (0.18, 1, "single precision")):
    axes.barh(places + shift, values[:, column], height=0.34, label=label)
axes.set_yticks(places, list(errors))
axes.set(xscale="log", xlim=(1e-17, 10), xlabel="largest relative difference of a prediction")
axes.invert_yaxis()
axes.legend(fontsize=9)
plt.show()
