"""
Condition number and choice of the solver
=========================================

The normal equations square the condition number κ of X, so about κ²ε of the answer is rounding
error. QR and the singular value decomposition lose only κε. ``solver="auto"`` estimates κ first,
takes the fast method while it keeps the digits, and reports the reason.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
n, d = 200, 8
left, _ = np.linalg.qr(random.standard_normal((n, d)))
right, _ = np.linalg.qr(random.standard_normal((d, d)))
theta = np.ones(d)


def relative_error(condition: float, solver: str) -> float:
    """Error of θ̂ where the exact answer is all ones; NaN where the solver refuses."""
    X = left @ np.diag(np.logspace(0, -np.log10(condition), d)) @ right.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.IllConditionedWarning)
        model = th.LinearRegression(fit_intercept=False, solver=solver)
        try:
            model.fit(X, X @ theta)
        except th.errors.CapabilityError:
            return np.nan
    return np.linalg.norm(model.coef_ - theta) / np.linalg.norm(theta)


# %%
# The normal equations lose two digits for each power of ten in κ, the other methods at most one.
# From κ = 10⁸ on, the normal equations have no correct digits left: "cholesky" warns, or refuses
# where X is numerically singular.

conditions = np.logspace(0, 12, 25)
solvers = {"cholesky": "o", "qr": "s", "svd": "^", "auto": "x"}
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for solver, marker in solvers.items():
    errors = [relative_error(condition, solver) for condition in conditions]
    axes.loglog(conditions, errors, marker=marker, ms=4, lw=0.8, label=solver)
axes.set(xlabel="condition number κ of X", ylabel="relative error of the coefficients")
axes.legend(frameon=False)
plt.show()

# %%
# The reason that ``auto`` gives for an easy and for a hard problem:

easy, hard = th.datasets.load_abalone(), th.datasets.wampler(5)
for name, data in (("abalone", easy), ("Wampler 5", hard)):
    solution = th.LinearRegression().fit(data.X, data.y).solution_
    print(f"{name}: κ = {solution.condition:.3g}\n  {solution.solver}: {solution.reason}")
