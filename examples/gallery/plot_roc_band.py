"""
An ROC curve and how sure it is
===============================

A curve drawn from 200 rows is one of many that could have been drawn. The band holds the true
curve, point by point: near the left edge, where a handful of negatives decides, it reaches down to
nothing. The wider band holds the whole true curve at once. Two classifiers whose bands overlap all
along are hardly told apart by eye, which is what DeLong's test is for.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
y = np.repeat([0, 1], 100)
common = random.standard_normal(200)
good = 1.4 * y + common
better = 1.7 * y + 0.8 * common + 0.5 * random.standard_normal(200)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
th.roc_curve(y, good).plot(left, "first score")
th.roc_curve(y, better).plot(left, "second score")
left.set_title("two scores, pointwise bands")
th.roc_curve(y, good, band="simultaneous").plot(right)
right.set_title("a band for the whole curve")
plt.show()

# %%
# The areas differ by what chance alone can make, or more:

print(th.statistics.auc_difference(y, better, good))
