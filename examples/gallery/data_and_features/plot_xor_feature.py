"""
Exclusive or with one extra feature
===================================

No linear function of x₁ and x₂ equals 1 exactly where one of them is 1 and the other is 0: the best
one is the constant ½. With x̃ = 2x − 1 and the product x̃₁x̃₂ as a third feature the function
becomes linear: XOR = ½ − ½·x̃₁x̃₂.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
xor = np.array([0.0, 1.0, 1.0, 0.0])

signed = th.FeatureMap(
    {
        "2x₁−1": (lambda a: 2 * a - 1, [0]),
        "2x₂−1": (lambda a: 2 * a - 1, [1]),
        "product": (lambda a, b: (2 * a - 1) * (2 * b - 1), [0, 1]),
    }
)
line = th.LinearRegression().fit(corners, xor)
product = th.BasisRegression(signed).fit(corners, xor)
print("linear:  β =", line.coef_.round(6), " b =", round(float(line.intercept_), 6))
print("product: β =", product.coef_.round(6), " b =", round(float(product.intercept_), 6))

# %%
# Level sets of both fits: the constant ½ on the left, and on the right a saddle that is correct at
# all four corners.

side = np.linspace(-0.25, 1.25, 121)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.9), sharey=True, layout="constrained")
for axes, model, title in (
    (panels[0], line, "f linear in x₁, x₂"),
    (panels[1], product, "with the feature x̃₁x̃₂"),
):
    height = model.predict(grid).reshape(121, 121)
    levels = np.linspace(-0.75, 1.75, 26)
    shown = axes.contourf(side, side, height, levels=levels, cmap="RdBu_r", extend="both")
    if np.ptp(height) > 1e-9:
        axes.contour(side, side, height, levels=[0.5], colors="black", linewidths=1)
    for target, marker in ((0.0, "o"), (1.0, "s")):
        rows = corners[xor == target]
        axes.scatter(*rows.T, s=90, marker=marker, color="white", edgecolor="black", zorder=3)
    for corner, value in zip(corners, model.predict(corners), strict=True):
        axes.annotate(f"{value:.2g}", corner, (8, 8), textcoords="offset points")
    axes.set(aspect="equal", xlabel="x₁", title=title, xticks=[0, 1], yticks=[0, 1])
panels[0].set_ylabel("x₂")
figure.colorbar(shown, ax=panels, label="f(x); circles are 0, squares 1")
plt.show()
