"""
Calibration of predicted probabilities
======================================

Of the rows with a predicted probability of 70 %, about 70 % should be positive. Each point has its
own interval, so that chance in a small bin is not mistaken for an error of the model. Scores that
are pushed towards 0 and 1 are overconfident, which the second curve shows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
calibrated = random.beta(1.5, 1.5, 2000)
y = (random.random(2000) < calibrated).astype(int)
overconfident = 1 / (1 + (1 / calibrated - 1) ** 2.5)

figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
for name, probabilities in {"calibrated": calibrated, "overconfident": overconfident}.items():
    curve = th.calibration_curve(y, probabilities)
    curve.plot(axes, f"{name}, error {curve.error:.3f}")
plt.show()
