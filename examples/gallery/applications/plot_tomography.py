"""
Computed tomography by least squares
====================================

An X-ray loses intensity on its way through a body: I = I₀ exp(−∫ μ). The response y = ln(I₀/I) is
therefore the integral of the absorption μ along the ray, and linear in the absorption of the
pixels. Parallel rays from many directions give one linear equation each, and least squares solves
for all pixels at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

import thetahat as th

SIDE, RAYS, ANGLES, PHOTONS = 32, 48, 36, 500_000


def projection_matrix(side, rays, angles):
    """Weight of each pixel in each ray: a triangle in the distance from the pixel to the ray.

    Row i = i_p + rays·i_o is the ray with detector index i_p and direction i_o; column
    j = j_a + side·j_b is the pixel (j_a, j_b).
    """
    centre = (side - 1) / 2
    b, a = np.indices((side, side)).reshape(2, -1) - centre
    angle = np.pi * np.arange(angles)[:, np.newaxis, np.newaxis] / angles
    offset = np.linspace(-1, 1, rays)[:, np.newaxis] * np.sqrt(2) * centre
    distance = np.abs(a * np.cos(angle) + b * np.sin(angle) - offset)
    return np.maximum(1 - distance, 0).reshape(rays * angles, side * side)


def body(side):
    """Absorption per pixel: an ellipse of tissue with bone around it and three organs inside."""
    b, a = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    parts = [  # centre, half axes, absorption that is added
        (0.0, 0.0, 0.72, 0.92, 0.10),
        (0.0, 0.0, 0.62, 0.82, -0.06),
        (-0.25, -0.1, 0.18, 0.38, -0.03),
        (0.28, -0.15, 0.15, 0.30, -0.03),
        (0.05, 0.5, 0.20, 0.13, 0.05),
    ]
    return sum(
        value * (((a - x) / width) ** 2 + ((b - y) / height) ** 2 <= 1)
        for x, y, width, height, value in parts
    )


X = projection_matrix(SIDE, RAYS, ANGLES)
truth = body(SIDE).ravel()
random = np.random.default_rng(0)
counts = random.poisson(PHOTONS * np.exp(-X @ truth))
y = np.log(PHOTONS / counts)

# %%
# Ordinary least squares amplifies the noise of the counts. Ridge regression, with a penalty chosen
# by leaving rows out, damps the directions that the rays hardly measure. LSQR needs only products
# with the matrix; stopped early, it has the same effect.

ordinary = th.LinearRegression(fit_intercept=False).fit(X, y).coef_
ridge = th.RidgeCV(np.geomspace(0.001, 10, 13), fit_intercept=False).fit(X, y)
rows = csr_array(X)
steps = np.unique(np.geomspace(1, 200, 14).astype(int))
stopped = {
    step: th.linalg.lsqr(lambda u: rows @ u, lambda v: rows.T @ v, y, SIDE**2, max_steps=step).theta
    for step in steps.tolist()
}


def error(estimate):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


errors = {step: error(estimate) for step, estimate in stopped.items()}
best = min(errors, key=errors.get)
print(f"{len(y)} rays measure {SIDE**2} pixels.")
print(f"Relative error of ordinary least squares: {error(ordinary):.3f}.")
print(f"Relative error of ridge regression, penalty {ridge.alpha_:.3g}: {error(ridge.coef_):.3f}.")
print(f"Relative error of LSQR after {best} steps: {errors[best]:.3f}.")

# %%
# The sinogram shows the measured responses: one row per direction, one column per detector.

figure, axes = plt.subplots(2, 3, figsize=(10, 6.4), layout="constrained")
pictures = {
    "body": truth,
    "ordinary least squares": ordinary,
    f"ridge, penalty {ridge.alpha_:.3g}": ridge.coef_,
    f"LSQR after {best} steps": stopped[best],
}
for ax, (title, picture) in zip(axes.flat[[0, 2, 3, 4]], pictures.items(), strict=True):
    ax.imshow(picture.reshape(SIDE, SIDE), cmap="gray", vmin=0, vmax=0.12)
    ax.set_title(title)
    ax.set_axis_off()
sinogram = axes[0, 1]
sinogram.imshow(y.reshape(ANGLES, RAYS), cmap="gray", aspect="auto")
sinogram.set(title="sinogram y = ln(I₀/I)", xlabel="detector", ylabel="direction")
curve = axes[1, 2]
curve.semilogx(list(errors), list(errors.values()), "o-", ms=3, label="LSQR")
curve.axhline(error(ridge.coef_), color="C1", ls="--", label="ridge")
curve.axhline(error(ordinary), color="C3", ls=":", label="ordinary")
curve.set(title="relative error", xlabel="steps of LSQR", ylim=(0, None))
curve.legend(frameon=False)
plt.show()
