"""
Searching a parameter: the depth of a tree
==========================================

Every setting of a grid is evaluated on the same folds. The setting with the best mean score is
chosen, or the simplest one within one standard error of it. The printed sentence names the settings
that these rows cannot distinguish.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.uniform(-2.0, 2.0, (600, 2))
inside = np.hypot(X[:, 0], X[:, 1]) < 1.2
y = np.where(random.random(600) < 0.1, ~inside, inside)

depths = {"max_depth": [1, 2, 3, 4, 6, 10, 15]}
tree = th.DecisionTreeClassifier(random_state=0)
found = th.search(tree, depths, X, y, choose="one_standard_error")
print(found)

# %%
# Mean accuracy and its interval for every depth. The dotted line is one standard error below the
# best; the orange depth is the first above it.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
found.plot(axes)
plt.show()

# %%
# The same with the bootstrap: models are trained on rows drawn with replacement and scored on the
# rows that were not drawn.

print(th.search(tree, depths, X, y, cv="bootstrap"))
