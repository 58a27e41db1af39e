"""
Experts for the stock market, combined by Hedge
===============================================

Every day each expert predicts the price of tomorrow and suffers a loss between 0 and 1: its error,
divided by the largest error that counts. Hedge follows a mixture of the experts and lowers the
weight of each by its losses. At the end it is almost as good as the best expert in hindsight,
although it did not know which one that is.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

DAYS = 750
random = np.random.default_rng(4)
change = np.zeros(DAYS + 21)
for day in range(1, change.size):  # changes continue for a while: the trend follower is right
    change[day] = 0.6 * change[day - 1] + random.normal(0, 1.0)
price = 100 + np.cumsum(change)

experts = {
    "as today": lambda past: past[-1],
    "trend continues": lambda past: past[-1] + 0.6 * (past[-1] - past[-2]),
    "trend reverses": lambda past: past[-1] - 0.6 * (past[-1] - past[-2]),
    "mean of 5 days": lambda past: past[-5:].mean(),
    "mean of 20 days": lambda past: past[-20:].mean(),
}
days = range(20, 20 + DAYS)
advice = np.array([[expert(price[: day + 1]) for expert in experts.values()] for day in days])
losses = np.minimum(np.abs(advice - price[21:, np.newaxis]) / 5, 1)

# %%
# The regret is the loss of Hedge beyond that of the best expert. It is bounded by √(2T ln n) + ln n
# for any prices.

hedge = th.online.Hedge(rounds=DAYS)
weights = []
for loss in losses:
    hedge.update(loss)
    weights.append(hedge.weights_)
run = th.online.Hedge(rounds=DAYS).run(losses)
names = list(experts)
best = names[int(np.argmin(run.expert_losses))]
regret = run.losses.sum() - run.expert_losses.min()
bound = run.tuned_bound - run.expert_losses.min()
print(
    f'The best expert is "{best}" with a mean loss of {run.expert_losses.min() / DAYS:.3f} per day.'
)
print(f"Hedge has a mean loss of {run.losses.mean():.3f},")
print(f"and an expert chosen at random has one of {losses.mean():.3f}.")
print(f"The regret after {DAYS} days is {regret:.1f}, and the bound is {bound:.1f}.")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(np.cumsum(losses, axis=0), label=names, lw=1)
left.plot(np.cumsum(run.losses), color="black", ls="--", label="Hedge")
left.set(xlabel="day", ylabel="total loss", title="losses add up")
left.legend(frameon=False)
right.stackplot(range(DAYS), np.transpose(weights), labels=names, alpha=0.85)
right.set(
    xlabel="day", ylabel="weight", xlim=(0, DAYS - 1), ylim=(0, 1), title="weights of the experts"
)
plt.show()
