"""
The losses of regression and classification
===========================================

A loss is the cost of an error. For numbers it is a function of the residual r = z − y, for classes
of the margin y·z, which is negative where the sign is wrong. The Huber loss is quadratic near 0 and
linear beyond, the Tukey loss stops growing, and the hinge loss is zero once the margin is 1.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

residuals = np.linspace(-6.0, 6.0, 601)
margins = np.linspace(-2.5, 2.5, 501)

of_residual = (
    th.losses.Squared(),
    th.losses.Absolute(),
    th.losses.Huber(),
    th.losses.EpsilonInsensitive(),
    th.losses.Forsyth(),
    th.losses.Cauchy(),
    th.losses.Tukey(),
)
of_margin = (
    th.losses.ZeroOne(),
    th.losses.SignLogistic(),
    th.losses.Hinge(),
    th.losses.SquaredHinge(),
    th.losses.ClassHuber(),
    th.losses.Exponential(),
)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
for loss in of_residual:
    left.plot(residuals, loss.value(np.zeros_like(residuals), residuals), label=repr(loss))
left.set(xlabel="residual z − y", ylabel="loss", ylim=(0, 6), title="regression")
for loss in of_margin:
    right.plot(margins, loss.value(np.ones_like(margins), margins), label=repr(loss))
right.set(xlabel="margin y·z", ylim=(0, 6), title="classification")
for axes in (left, right):
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, frameon=False)
plt.show()

# %%
# The gradient is the influence of one point on the fit. With the squared loss the influence of a
# distant point has no bound; with a redescending loss (Forsyth, Cauchy, Tukey) it falls to zero.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for loss in of_residual:
    axes.plot(residuals, loss.gradient(np.zeros_like(residuals), residuals), label=repr(loss))
axes.set(xlabel="residual z − y", ylabel="gradient", ylim=(-3, 3))
axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
plt.show()
