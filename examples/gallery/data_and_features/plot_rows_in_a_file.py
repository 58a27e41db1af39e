"""
Fitting a file that stays on disk
=================================

``th.scan`` opens a file as rows, and a fit reads it block by block. The blocks are the same as
those of the fit in memory, and they are merged in the same order. So the coefficients agree,
although only a few blocks are in memory at any time.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
X = random.standard_normal((200_000, 20))
y = X @ np.arange(1.0, 21.0) + 5.0 + random.standard_normal(len(X))

in_memory = th.LinearRegression().fit(X, y)
with TemporaryDirectory() as folder:
    path = Path(folder, "rows.npy")
    np.save(path, np.column_stack([X, y]))
    from_file = th.LinearRegression().fit(th.scan(path, target=-1))

print("largest difference:", np.max(np.abs(in_memory.coef_ - from_file.coef_)))

# %%
# The summary does not read the file again: the sums that it needs were kept during the fit.

summary = from_file.summary()
errors = [coefficient.standard_error for coefficient in summary.coefficients[1:]]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.errorbar(
    np.arange(1, 21), from_file.coef_ - np.arange(1.0, 21.0), yerr=1.96 * np.array(errors), fmt="o"
)
axes.axhline(0.0, color="black", lw=0.6)
axes.set(xlabel="column", ylabel="fitted from the file − true coefficient")
axes.set_xticks(range(1, 21, 2))
plt.show()
