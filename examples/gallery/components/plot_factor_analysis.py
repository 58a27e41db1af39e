"""
Factor analysis where columns differ in noise
=============================================

Eight questions measure two abilities, and two of the questions are answered almost at random.
Principal components look for the largest variance and find the noise of these two questions. Factor
analysis gives each column a noise of its own.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

rng = np.random.default_rng(0)
truth = np.array([[1.0, 0.9, 0.8, 0.9, 0, 0, 0, 0], [0, 0, 0, 0, 1.0, 0.9, 0.8, 0.9]])
noise = np.array([0.4, 0.4, 0.4, 2.5, 0.4, 0.4, 2.5, 0.4])
X = rng.normal(size=(600, 2)) @ truth + noise * rng.normal(size=(600, 8))

factors = th.FactorAnalysis(2, rotation="varimax").fit(X)
principal = th.PCA(2).fit(X)
loadings = principal.components_ * np.sqrt(principal.explained_variance_)[:, None]

# %%
# The loadings of the factors are those that the rows were made with. A rotation towards few large
# entries (varimax) makes each factor one ability.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharex=True)
for axis, title, A in (
    (axes[0], "factor analysis", factors.components_),
    (axes[1], "principal components", loadings),
):
    axis.bar(np.arange(8) - 0.2, A[0], 0.4, label="first")
    axis.bar(np.arange(8) + 0.2, A[1], 0.4, label="second")
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.set(title=title, xlabel="question", ylabel="loading")
axes[1].legend()
axes[2].plot(noise, "k_", markersize=16, label="truth")
axes[2].plot(np.sqrt(factors.noise_variance_), "o", label="factor analysis")
axes[2].axhline(np.sqrt(principal.noise_variance_), color="C1", label="principal components")
axes[2].set(title="noise of the columns", xlabel="question", ylabel="standard deviation")
axes[2].legend()
figure.tight_layout()
plt.show()

# %%
# Both are Gaussian models of the rows, so their likelihood of new rows can be compared.

new = rng.normal(size=(600, 2)) @ truth + noise * rng.normal(size=(600, 8))
for name, model in (("factor analysis", factors), ("principal components", principal)):
    print(f"{name:21s} mean log p of new rows {model.score(new):.2f}")
