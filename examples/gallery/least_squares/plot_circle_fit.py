"""
Fitting a circle to a short arc
===============================

A circle can be fitted by one linear regression, ‖x‖² = 2cᵀx + (r² − cᵀc), or by minimising the
distances themselves, Σ(‖x − c‖ − r)². For points around a whole circle both fits agree. On a short
arc the linear fit is biased towards small circles.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(1)
turn = np.linspace(0.0, 2 * np.pi, 200)
circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
center, radius = np.array([1.0, -3.0]), 2.0

figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axes, angle, title in (
    (panels[0], 2 * np.pi, "whole circle"),
    (panels[1], 0.9, "short arc"),
):
    where = random.uniform(0.6, 0.6 + angle, 60)
    points = center + radius * np.stack([np.cos(where), np.sin(where)], axis=1)
    points += random.normal(0.0, 0.06, points.shape)
    axes.plot(*(center + radius * circle).T, "k:", label="true circle")
    for method, color in (("algebraic", "tab:orange"), ("geometric", "tab:blue")):
        fit = th.CircleFit(method=method).fit(points)
        axes.plot(
            *(fit.center_ + fit.radius_ * circle).T,
            color=color,
            label=f"{method}: r = {fit.radius_:.2f}",
        )
        axes.plot(*fit.center_, "+", color=color, ms=9)
    axes.scatter(*points.T, s=9, color="black", zorder=3)
    axes.set(aspect="equal", title=title, xlim=(-1.6, 4.6), ylim=(-5.6, 0.6))
    axes.legend(frameon=False, loc="upper right", fontsize=8)
plt.show()

# %%
# Over many samples the bias is visible: the shorter the arc, the smaller the median radius of the
# algebraic fit.

angles = np.array([0.5, 0.7, 1.0, 1.5, 2.2, 3.3, 5.0])
medians = {"algebraic": [], "geometric": []}
for angle in angles:
    found = {"algebraic": [], "geometric": []}
    for _ in range(25):
        where = random.uniform(0.0, angle, 60)
        points = center + radius * np.stack([np.cos(where), np.sin(where)], axis=1)
        points += random.normal(0.0, 0.03, points.shape)
        for method, radii in found.items():
            radii.append(th.CircleFit(method=method).fit(points).radius_)
    for method, radii in found.items():
        medians[method].append(np.median(radii))

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.axhline(radius, color="black", ls=":", label="true radius")
axes.plot(np.degrees(angles), medians["algebraic"], "o-", color="tab:orange", label="algebraic")
axes.plot(np.degrees(angles), medians["geometric"], "o-", color="tab:blue", label="geometric")
axes.set(xlabel="arc in degrees", ylabel="median radius of 25 fits", ylim=(0, 2.6))
axes.legend(frameon=False)
plt.show()
