"""
From a mixed table to a prediction
==================================

A table holds numbers with gaps, categories and text. ``TableVectorizer`` turns it into one matrix:
categories become indicator columns, text becomes word weights, and gaps are filled and marked. In a
pipeline it is fitted again on every fold, so no information leaks from the held-out rows. A
constant model shows whether the others have learned anything at all.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline

import thetahat as th

random = np.random.default_rng(0)
n = 600
age = random.uniform(18, 80, n)
plan = random.choice(["basic", "plus", "pro"], n, p=[0.6, 0.3, 0.1])
bad = random.random(n) < 0.4
words = np.where(bad, "the line is slow again today", "thank you all is well here")
risk = 0.03 * (age - 50) + np.where(plan == "pro", -1.5, 0.0) + np.where(bad, 1.5, -1.0)
left = np.where(random.random(n) < 1 / (1 + np.exp(-risk)), "left", "stayed")
table = pl.DataFrame(
    {
        "age": [None if gap else a for a, gap in zip(age, random.random(n) < 0.1, strict=True)],
        "plan": plan,
        "last call": words,
    }
)
models = {
    "logistic": make_pipeline(th.TableVectorizer(), th.LogisticRegression()),
    "always the same": make_pipeline(th.TableVectorizer(), th.ConstantClassifier()),
}
comparison = th.compare(models, table, left)
print(comparison)
comparison.plot()
plt.show()

# %%
# The importance of a column is the accuracy that the model loses on held-out rows when the column
# is shuffled. The second picture shows how the probability changes with age.

train, test = np.arange(n) < 400, np.arange(n) >= 400
model = models["logistic"].fit(table.filter(train), left[train])
found = th.importances(model, table.filter(test), left[test])
curve = th.partial_dependence(model, table.filter(test), "age", label="left")
figure, (left_axes, right_axes) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
found.plot(left_axes)
curve.plot(right_axes)
plt.show()

# %%
# The best constant depends on the loss: the mean minimises the squared loss, the median minimises
# the absolute loss, and a quantile minimises the quantile loss.

incomes = random.lognormal(3.0, 0.7, 1000)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.hist(incomes, bins=60, color="0.85")
losses = {"mean": "squared", "median": "absolute", "0.9 quantile": th.losses.Quantile(0.9)}
for place, (name, loss) in enumerate(losses.items()):
    constant = th.ConstantRegressor(loss).fit(np.zeros((1000, 1)), incomes).constant_
    axes.axvline(constant, color=f"C{place}", label=f"{name}: {constant:.1f}")
axes.legend()
axes.set(xlabel="income", xlim=(0, 120))
plt.show()
