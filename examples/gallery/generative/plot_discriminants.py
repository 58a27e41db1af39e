"""
Nearest means, linear and quadratic discriminants
=================================================

Four models of the same three classes, from few parameters to many. All are Gaussian: nearest means
assume one round covariance, diagonal discriminants one with independent columns, linear ones a
shared covariance and quadratic ones a covariance for each class. The ellipses hold 90% of what each
model expects of a class.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb

import thetahat as th

random = np.random.default_rng(4)
shapes = np.array([[[1.4, 1.1], [0.0, 0.5]], [[0.5, -0.1], [0.0, 1.3]], [[0.7, -0.5], [0.0, 0.5]]])
centres = np.array([[-1.5, 0.5], [2.6, 0.6], [0.9, -2.4]])
y = np.repeat(np.arange(3), 70)
X = np.einsum("nj,njk->nk", random.standard_normal((210, 2)), shapes[y]) + centres[y]
X[:, 0] *= 2.0

models = {
    "Nearest centroid": th.NearestCentroid(),
    "Diagonal LDA": th.LinearDiscriminantAnalysis(covariance="diagonal", store_covariance=True),
    "LDA": th.LinearDiscriminantAnalysis(store_covariance=True),
    "QDA": th.QuadraticDiscriminantAnalysis(store_covariance=True),
}


def ellipse(mean, covariance, share=0.9):
    """Points of the curve that holds this share of a Gaussian in the plane."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.sqrt(-2.0 * np.log(1.0 - share)) * np.stack([np.cos(angle), np.sin(angle)])
    return mean[:, None] + vectors @ (np.sqrt(values)[:, None] * circle)


# %%
# Each point has the colour of the class that the model predicts there.

low = X.min(axis=0) - np.array([1.0, 2.5])
high = X.max(axis=0) + np.array([2.5, 1.0])
sides = [np.linspace(low[j], high[j], 250) for j in range(2)]
grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
colours = np.array([to_rgb(name) for name in ("tab:blue", "tab:orange", "tab:green")])

figure, panels = plt.subplots(2, 2, figsize=(8.4, 7.6), layout="constrained")
for panel, (name, model) in zip(panels.flat, models.items(), strict=True):
    model.fit(X, y)
    picture = 1 - 0.35 * (1 - colours[model.predict(grid)])
    panel.imshow(
        picture.reshape(250, 250, 3),
        origin="lower",
        extent=(low[0], high[0], low[1], high[1]),
        aspect="auto",
    )
    panel.scatter(*X.T, c=colours[y], s=14, edgecolor="white", lw=0.4)
    means = model.centroids_ if name == "Nearest centroid" else model.means_
    for c, mean in enumerate(means):
        if name == "Nearest centroid":
            shape = np.eye(2) * np.mean(model.within_class_std_dev_**2)
        else:
            shape = model.covariance_[c] if name == "QDA" else model.covariance_
        panel.plot(*ellipse(mean, shape), color=colours[c] * 0.7, lw=1.8)
        panel.plot(*mean, "X", color=colours[c] * 0.6, ms=9, markeredgecolor="white")
    wrong = 1.0 - model.score(X, y)
    panel.set(title=f"{name}: {wrong:.1%} errors", xticks=[], yticks=[])
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
plt.show()

# %%
# The classes have different shapes, so that quadratic boundaries make the fewest errors. Fisher's
# projection keeps what separates the class means and gives a picture of tables with many columns;
# here it turns the plane until the variance within the classes is the same in all directions.

linear = models["LDA"]
projected = linear.transform(X)
figure, panel = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
panel.scatter(*projected.T, c=colours[y], s=16, edgecolor="white", lw=0.4)
first, second = linear.explained_variance_ratio_
panel.set(
    xlabel=f"first discriminant ({first:.0%} of the variance between classes)",
    ylabel=f"second discriminant ({second:.0%})",
    title="Fisher's projection",
    aspect="equal",
)
plt.show()

# %%
# All four are models of the data: they say how likely a new row is, draw new rows, and classify
# rows with missing values by the columns that are known.

quadratic = models["QDA"]
print(
    "log p of a typical row and of a new kind:", quadratic.log_density([[-3.0, 0.5], [12.0, 6.0]])
)
rows, labels = quadratic.sample(3, random_state=0)
print("three drawn rows:", rows.round(2).tolist(), "of the classes", labels.tolist())
print("first column unknown:", quadratic.predict_proba([[np.nan, -2.5]]).round(3))
