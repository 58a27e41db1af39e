"""
Following the best expert: Hedge
================================

Ten experts of different quality give advice in a thousand rounds. Hedge does not know which experts
are good; it lowers the weight of each by its losses. Its regret, the loss beyond that of the best
expert, stays below √(2T ln n) + ln n.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

random = np.random.default_rng(0)
quality = np.linspace(0.35, 0.65, 10)
losses = (random.random((1000, 10)) < quality).astype(float)

hedge = th.online.Hedge(rounds=1000)
weights = []
own = []
for loss in losses:
    own.append(hedge.update(loss))
    weights.append(hedge.weights_)
run = th.online.Hedge(rounds=1000).run(losses)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
run.plot(left)
right.stackplot(
    np.arange(1000), np.transpose(weights), colors=plt.cm.viridis(np.linspace(0, 1, 10))
)
right.set(xlabel="round", ylabel="weights of the experts", xlim=(0, 999), ylim=(0, 1))
plt.show()
