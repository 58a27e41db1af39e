"""
Topics of documents
===================

Latent Dirichlet allocation finds topics in counts of words. Here 400 documents of 60 words mix five
topics that share some of their words; only the counts are given to the model.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

TOPICS = {
    "football": "goal team match coach league score player season",
    "weather": "rain wind cloud storm season degree forecast cold",
    "music": "song band concert album stage score player record",
    "finance": "bank market share price rate record debt investor",
    "health": "doctor patient vaccine virus rate study cold drug",
}
WORDS = np.array(sorted(set(" ".join(TOPICS.values()).split())))

random = np.random.default_rng(0)
words = np.zeros((len(TOPICS), len(WORDS)))
for topic, text in enumerate(TOPICS.values()):
    places = np.searchsorted(WORDS, text.split())
    words[topic, places] = random.dirichlet(np.full(len(places), 4.0))
shares = random.dirichlet(np.full(len(TOPICS), 0.3), 400)
X = np.array([random.multinomial(60, each @ words) for each in shares])

model = th.LatentDirichletAllocation(len(TOPICS), max_iter=30, random_state=0).fit(X)
found = model.components_ / model.components_.sum(axis=1, keepdims=True)
order = [int(np.argmax(found @ each)) for each in words]

# %%
# The most frequent words of the topics, beside their true frequencies.

figure, axes = plt.subplots(1, 5, figsize=(11, 3.2), sharex=True, layout="constrained")
for axis, name, topic, truth in zip(axes, TOPICS, order, words, strict=True):
    top = np.argsort(-found[topic])[:8]
    places = np.arange(len(top))
    axis.barh(places - 0.2, found[topic, top], height=0.4, label="found")
    axis.barh(places + 0.2, truth[top], height=0.4, color="black", label="truth")
    axis.set_yticks(places, WORDS[top])
    axis.invert_yaxis()
    axis.set_title(name)
axes[0].legend(frameon=False, loc="lower right")
figure.supxlabel("frequency of the word in the topic", fontsize=10)
plt.show()

# %%
# The topic weights of the first documents. The perplexity of new documents shows how many topics
# there are: it is the number of equally likely words among which the next word is as hard to guess.

weights = model.transform(X[:12])[:, order]
new = np.array([random.multinomial(60, each @ words) for each in shares])
numbers = np.arange(1, 11)
perplexities = [
    th.LatentDirichletAllocation(int(k), max_iter=30, random_state=0).fit(X).perplexity(new)
    for k in numbers
]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
for shift, values, alpha in ((-0.2, weights, 1.0), (0.2, shares[:12], 0.45)):
    bottom = np.zeros(12)
    for topic, name in enumerate(TOPICS):
        label = name if shift < 0 else None
        left.bar(
            np.arange(12) + shift, values[:, topic], 0.36, bottom, color=f"C{topic}", alpha=alpha,
            label=label,
        )  # fmt: skip
        bottom += values[:, topic]
left.set(xlabel="document (left bar: found, pale bar: truth)", ylabel="topic weight", ylim=(0, 1.3))
left.legend(frameon=False, ncols=5, loc="upper center", fontsize=8, columnspacing=0.8)
right.plot(numbers, perplexities, "o-")
right.axvline(len(TOPICS), color="0.6", lw=1, ls="--")
right.set(xlabel="number of topics", ylabel="perplexity of new documents")
plt.show()
error = np.abs(model.transform(X)[:, order] - shares).mean()
print(f"Mean error of a topic weight: {error:.3f}.")
