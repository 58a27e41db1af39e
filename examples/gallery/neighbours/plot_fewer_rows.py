"""
Fewer rows, the same border
===========================

The nearest neighbour needs only the rows near the borders between classes. Editing drops the others
without a change of any decision, condensing keeps still fewer rows that classify all training rows,
and prototypes replace the rows of a class by a few centres.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(2)
X = random.random((300, 2))
y = np.where(X[:, 1] > 0.5 + 0.25 * np.sin(6 * X[:, 0]), "above", "below")

side = np.linspace(0, 1, 250)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
full = th.KNeighborsClassifier(1).fit(X, y).predict(grid)

# %%
# Kept rows are drawn large. The title has the share of the square in which the class differs from
# that of all 300 rows.

models = {
    "Voronoi editing": th.VoronoiEditing(),
    "condensed": th.CondensedNearestNeighbors(random_state=0),
    "6 prototypes": th.PrototypeClassifier(6, random_state=0),
    "class means": th.PrototypeClassifier(),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 8.5), layout="constrained", sharex=True, sharey=True)
for axis, (name, model) in zip(axes.flat, models.items(), strict=True):
    said = model.fit(X, y).predict(grid)
    picture = (said == "above").reshape(250, 250)
    axis.imshow(picture, extent=(0, 1, 0, 1), origin="lower", cmap="coolwarm", alpha=0.4)
    axis.scatter(*X.T, c=y == "above", cmap="coolwarm", s=5)
    color = model.prototype_labels_ == "above"
    axis.scatter(*model.prototypes_.T, c=color, cmap="coolwarm", s=45, edgecolor="black")
    axis.set_title(f"{name}: {len(model.prototypes_)} rows, {np.mean(said != full):.1%} differ")
plt.show()

# %%
# The edited rows can be used by any other classifier.

kept = models["Voronoi editing"].sample_indices_
edited = th.KNeighborsClassifier(1).fit(X[kept], y[kept])
print("decisions that differ:", np.count_nonzero(edited.predict(grid) != full))
