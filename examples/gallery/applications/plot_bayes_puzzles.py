"""
Six small puzzles for Bayes' rule
=================================

How long is the way to work? Has the sun exploded? Is the manager an engineer? Was the alarm false?
Is the coin fair? Which jar is it? Each puzzle combines what was known before with what was seen.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

# %%
# **Commute.** A friend says 30 ± 10 minutes. Four trips took 25, 45, 30 and 50 minutes, each with a
# noise of 5 minutes. Precisions add up: A = 4/5² + 1/10² = 0.17, and B = 150/5² + 30/10² = 6.3, so
# that the posterior is N(B/A, 1/A).

prior = th.distributions.Normal(30, 10)
trips = [25, 45, 30, 50]
commute = th.distributions.posterior(prior, trips, noise=5)
print(f"The way takes {commute.mean:.6f} minutes on average, ± {commute.sigma:.6f}.")

# %%
# **Sun.** A detector errs with probability α = 0.0001, and it says that the sun exploded. The
# likelihood is larger if it did. Bayes' rule believes it only if the prior probability of an
# explosion, β, is larger than α.

ALPHA = 1e-4


def exploded(beta, alpha=ALPHA):
    """Probability that the sun exploded, given the alarm."""
    table = th.theory.BayesTable.of("sun", {"exploded": beta, "fine": 1 - beta}).chain(
        "alarm",
        {"exploded": {"on": 1 - alpha, "off": alpha}, "fine": {"on": alpha, "off": 1 - alpha}},
        given="sun",
    )
    return table.given({"alarm": "on"}).probability({"sun": "exploded"})


believed = th.theory.likelihood_decision(np.log([ALPHA, 1 - ALPHA]), classes=["fine", "exploded"])
print(f"Maximum likelihood says: {believed}.")
for beta in (1e-8, ALPHA, 0.5):
    print(f"With prior {beta:g} the probability that it exploded is {exploded(beta):.4g}.")

# %%
# **Engineers.** 20% of the employees are engineers, 20% economists. 75% of the engineers, 50% of
# the economists and 20% of the others are managers.
#
# **Alarm.** An incident happens with probability 0.1. The alarm rings with probability 0.97 after
# an incident and with probability 0.02 without one.

managers = (
    th.theory.BayesTable.of("job", {"engineer": 0.2, "economist": 0.2, "other": 0.6})
    .chain(
        "manager",
        {
            "engineer": {"yes": 0.75, "no": 0.25},
            "economist": {"yes": 0.5, "no": 0.5},
            "other": {"yes": 0.2, "no": 0.8},
        },
        given="job",
    )
    .given({"manager": "yes"})
)
causes = (
    th.theory.BayesTable.of("cause", {"incident": 0.1, "false alarm": 0.9})
    .chain(
        "alarm",
        {"incident": {"on": 0.97, "off": 0.03}, "false alarm": {"on": 0.02, "off": 0.98}},
        given="cause",
    )
    .given({"alarm": "on"})
)
engineer = managers.probability({"job": "engineer"})
false_alarm = causes.probability({"cause": "false alarm"})
print(f"A manager is an engineer with probability {engineer:.6f}.")
print(f"The alarm is false with probability {false_alarm:.6f}.")

# %%
# **Coin.** Heads fell four times, then tails: HHHHT. The likelihood θ⁴(1 − θ) is largest at 4/5.
#
# **Marbles.** One jar has only blue marbles, the other 90% red ones. If all marbles drawn are blue,
# we say "the blue jar". This fails with probability 0.1ⁿ after n draws from the other jar.

tosses = [1, 1, 1, 1, 0]
coin = th.distributions.Bernoulli.fit(tosses).distribution


def likelihood(theta):
    """Probability of the five tosses if heads has probability theta."""
    return np.exp(np.sum(th.distributions.Bernoulli(theta).log_density(tosses)))


draws = np.arange(0, 11)
failure = [th.theory.pac_failure(1, error=0.9, n=n) for n in draws]
print(f"The most likely probability of heads is {coin.p:.3f}.")
print(f"The tosses have likelihood {likelihood(0.1):.5f} at 0.1, {likelihood(0.9):.5f} at 0.9.")
print(f"After 100 blue marbles: {th.theory.pac_failure(1, error=0.9, n=100):.3g}.")

# %%

figure, axes = plt.subplots(2, 3, figsize=(11, 6.2), layout="constrained")
ax = axes[0, 0]
minutes = np.linspace(0, 65, 400)
ax.plot(minutes, prior.density(minutes), label="the friend")
ax.plot(minutes, commute.density(minutes), label="with four trips")
ax.plot(trips, [0] * 4, "|", color="black", ms=14, label="trips")
ax.set(title="commute", xlabel="minutes", ylabel="density")
ax.legend(frameon=False, loc="upper left", fontsize=9)
ax = axes[0, 1]
betas = np.geomspace(1e-8, 0.5, 60)
ax.semilogx(betas, [exploded(beta) for beta in betas])
ax.axvline(ALPHA, color="black", ls="--", lw=1, label="β = α")
ax.set(title="sun", xlabel="prior probability β", ylabel="posterior probability", ylim=(0, 1))
ax.legend(frameon=False, loc="upper left")
for ax, title, table, before, name in (
    (axes[0, 2], "manager", managers, [0.2, 0.2, 0.6], "job"),
    (axes[1, 0], "alarm", causes, [0.1, 0.9], "cause"),
):
    places = np.arange(len(before))
    ax.bar(places - 0.2, before, 0.4, label="before")
    ax.bar(places + 0.2, table.probabilities, 0.4, label="after")
    ax.set_xticks(places, table.axes[name])
    ax.set(title=title, ylabel="probability", ylim=(0, 1.15))
    ax.legend(frameon=False, loc="upper center", ncols=2)
ax = axes[1, 1]
theta = np.linspace(0.005, 0.995, 199)
ax.plot(theta, [likelihood(each) for each in theta])
ax.plot(coin.p, likelihood(coin.p), "o", color="C1", label=f"largest at {coin.p:.1f}")
ax.set(title="coin HHHHT", xlabel="probability of heads θ", ylabel="likelihood", ylim=(0, None))
ax.legend(frameon=False, loc="upper left")
ax = axes[1, 2]
ax.semilogy(draws, failure, "o-")
ax.set(title="marbles", xlabel="blue marbles drawn", ylabel="probability of failure")
plt.show()
