"""
Unmixing signals by independent components
==========================================

Three sensors record mixtures of three signals. Principal components of the recordings are
uncorrelated but still mixtures. Independent components are the signals themselves, up to their
order, sign and scale.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

rng = np.random.default_rng(0)
time = np.linspace(0, 20, 2000)
signals = np.column_stack([np.sin(2 * time), np.sign(np.sin(3 * time)), 2 * (time % 1.3) / 1.3 - 1])
signals += 0.1 * rng.normal(size=signals.shape)
mixing = np.array([[1.0, 1.0, 1.0], [0.5, 2.0, 1.0], [1.5, 1.0, 2.0]])
X = signals @ mixing.T

model = th.FastICA(random_state=0).fit(X)
found = model.transform(X)
principal = th.PCA(whiten=True).fit_transform(X)

# %%
# Independent components are drawn in the colours of the signals that they are most like. No
# principal component is like one signal only.


def like(components):
    """The component that is most like each signal, and its correlation with the signal."""
    table = np.abs(np.corrcoef(signals.T, components.T)[:3, 3:])
    return components[:, table.argmax(axis=1)], table.max(axis=1)


figure, axes = plt.subplots(4, 1, figsize=(8, 7.5), sharex=True)
for axis, title, rows in (
    (axes[0], "signals", signals),
    (axes[1], "recordings: mixtures of the signals", X - X.mean(axis=0)),
    (axes[2], "independent components", like(found)[0]),
    (axes[3], "principal components", principal),
):
    for j in range(3):
        axis.plot(time, rows[:, j] / rows[:, j].std() - 4.5 * j, color=f"C{j}", linewidth=0.8)
    axis.set(title=title, yticks=[])
axes[3].set(xlabel="time")
figure.tight_layout()
plt.show()

# %%
# Correlations of each signal with the component that is most like it, and how far the components
# are from Gaussian variables. This distance is 0 for a Gaussian signal; two such signals could not
# be separated.

print("independent components", like(found)[1].round(3))
print("principal components  ", like(principal)[1].round(3))
print("distance from Gaussian", model.nongaussianity_.round(3))
