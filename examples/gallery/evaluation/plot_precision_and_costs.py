"""
Precision, recall and the cost of errors
========================================

When positive rows are rare, precision and recall show more than the ROC curve. Where a missed
positive costs ten times as much as a false alarm, the best threshold is lower than for equal costs.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
y = (random.random(1500) < 0.12).astype(int)
scores = 1.8 * y + random.standard_normal(1500)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
th.precision_recall_curve(y, scores).plot(left)

thresholds = np.linspace(-2.0, 4.0, 200)
for cost in (1.0, 10.0):
    best = th.best_threshold(y, scores, false_negative=cost)
    called = scores[None, :] >= thresholds[:, None]
    costs = np.mean(called & (y == 0), axis=1) + cost * np.mean(~called & (y == 1), axis=1)
    (line,) = right.plot(thresholds, costs, label=f"a miss costs {cost:g}")
    right.plot(best.threshold, best.cost, "o", color=line.get_color())
right.set(xlabel="threshold", ylabel="mean cost per row", yscale="log")
right.legend(frameon=False)
plt.show()
