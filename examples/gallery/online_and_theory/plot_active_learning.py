"""
Active learning: which rows to label
====================================

Labels are expensive, rows are not. Labelling the rows about which the model is least certain
teaches it more than labelling random rows. In the stream on the right, each batch is predicted
before it is learned, so the running error is an unbiased estimate without held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
pool = random.uniform(-1, 1, (800, 2))
labels = (pool[:, 0] + 0.3 * pool[:, 1] > 0.2).astype(int)
learner = th.online.OnlinePerceptron()

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for query in ("uncertainty", "random"):
    runs = [
        th.online.active_learning(
            learner, pool, labels.__getitem__, questions=60, query=query,
            test=(pool, labels), random_state=seed,
        ).scores
        for seed in range(10)
    ]  # fmt: skip
    left.plot(np.arange(10, 61), np.mean(runs, axis=0), label=query)
left.set(xlabel="number of labels", ylabel="accuracy, mean of ten runs")
left.legend(frameon=False)

stream = [(pool[i : i + 20], labels[i : i + 20]) for i in range(0, 800, 20)]
found = th.online.progressive_validation(th.online.OnlinePerceptron(), stream, classes=[0, 1])
right.plot(np.arange(2, 41) * 20, found.losses, ".", label="each batch")
right.plot(np.arange(2, 41) * 20, found.running, label="so far")
right.set(xlabel="rows of the stream", ylabel="share of errors")
right.legend(frameon=False)
plt.show()
