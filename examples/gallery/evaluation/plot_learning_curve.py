"""
Learning curve: would more rows help
====================================

With few rows, a model with many columns fits its training rows much better than new rows; with more
rows the two scores approach each other. The band is the corrected interval over five folds. Where
it reaches above the last point, more rows may help.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

data = th.datasets.make_linear(400, 30, noise=6.0, random_state=0)
sizes = [60, 80, 120, 180, 240, 320]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
th.learning_curve(th.LinearRegression(), data.X, data.y, sizes=sizes).plot(left)
left.set_title("rows learned")
curve = th.validation_curve(
    th.Ridge(), data.X[:60], data.y[:60], parameter="alpha", values=np.logspace(-2, 4, 13)
)
curve.plot(right)
right.set(xscale="log", title="a penalty, on 60 rows")
plt.show()
