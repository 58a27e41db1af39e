"""
ROC curves with confidence bands
================================

A ROC curve from 200 rows is uncertain. The pointwise band contains the true curve at each point
with 95 % confidence; near the left edge, where only a few negative rows count, it reaches down to
zero. The wider band contains the whole true curve at once. To compare two classifiers, use DeLong's
test: overlapping bands alone do not decide.
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
# Do the two areas differ by more than chance explains?

print(th.statistics.auc_difference(y, better, good))
