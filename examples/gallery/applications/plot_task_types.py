"""
Three kinds of tasks: yes or no, one of several, a number
=========================================================

Is a comment toxic? Which team should answer a ticket? What will the taxi cost? The response decides
the kind of model: two classes, several classes, or a number. Words become columns by counting, and
then all three tasks are solved in the same way: fit, predict, score.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

# %%
# **Sentiment**, two classes. Columns count words; the coefficients of logistic regression show
# which words make a comment toxic.

WORDS = "idiot stupid hate ugly liar please thanks great agree helpful the you this is".split()
random = np.random.default_rng(0)
toxic = random.random(1200) < 0.4
rates = np.where(toxic[:, np.newaxis], [0.35] * 5 + [0.08] * 5, [0.06] * 5 + [0.35] * 5)
comments = np.hstack([random.poisson(rates), random.poisson(1.0, (1200, 4))])
sentiment = th.LogisticRegression().fit(comments[:800], toxic[:800])
accuracy = th.confusion(toxic[800:], sentiment.predict(comments[800:])).accuracy
print(f"Sentiment: {accuracy.estimate:.1%} right, {accuracy.low:.1%} to {accuracy.high:.1%}.")

# %%
# **Tickets**, several classes. Title and description are counted together, and naive Bayes compares
# the words with those of each team.

TEAMS = {
    "network": "timeout socket proxy connection latency",
    "database": "query index timeout table lock",
    "interface": "button layout font click screen",
    "build": "compiler package version error lock",
}
TERMS = sorted(set(" ".join(TEAMS.values()).split()))
team = random.integers(len(TEAMS), size=1200)
share = np.array(
    [[5.0 if term in words.split() else 1.0 for term in TERMS] for words in TEAMS.values()]
)
share /= share.sum(axis=1, keepdims=True)
tickets = np.array([random.multinomial(12, share[each]) for each in team])
names = np.array(list(TEAMS))
category = th.MultinomialNB().fit(tickets[:800], names[team[:800]])
table = th.confusion(names[team[800:]], category.predict(tickets[800:]))
print(f"Tickets: {table.accuracy.estimate:.1%} go to the right team, by chance it would be 25%.")

# %%
# **Taxi fare**, a number. The price per minute depends on the time of day, so boosted trees predict
# better than a straight line.

minutes = random.gamma(4.0, 4.0, 1500)
hour = random.integers(0, 24, 1500)
passengers = random.integers(1, 5, 1500)
night = (hour < 6) | (hour >= 22)
fare = 3.5 + minutes * np.where(night, 1.3, 0.8) + 0.5 * passengers + random.normal(0, 1, 1500)
trips = np.column_stack([minutes, hour, passengers])
straight = th.LinearRegression().fit(trips[:1000], fare[:1000])
boosted = th.GradientBoostingRegressor(random_state=0).fit(trips[:1000], fare[:1000])
errors = {
    name: np.sqrt(np.mean((model.predict(trips[1000:]) - fare[1000:]) ** 2))
    for name, model in (("linear regression", straight), ("boosted trees", boosted))
}
for name, error in errors.items():
    print(f"Taxi fare: root mean squared error {error:.2f} of {name}.")

# %%

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
order = np.argsort(sentiment.coef_[0])
colors = np.where(sentiment.coef_[0][order] > 0, "tab:red", "tab:blue")
left.barh(np.array(WORDS)[order], sentiment.coef_[0][order], color=colors)
left.set(xlabel="coefficient (positive: toxic)", title="sentiment")
middle.imshow(table.counts, cmap="Blues", aspect="auto")
for row in range(4):
    for column in range(4):
        count = table.counts[row, column]
        color = "white" if count > table.counts.max() / 2 else "black"
        middle.text(column, row, f"{count:.0f}", ha="center", va="center", color=color)
middle.set_xticks(range(4), table.classes, fontsize=8)
middle.set_yticks(range(4), table.classes, fontsize=8)
middle.set(xlabel="predicted team", ylabel="true team", title="tickets")
is_night = night[1000:]
for chosen, label, color in ((~is_night, "day", "tab:orange"), (is_night, "night", "tab:purple")):
    predicted = boosted.predict(trips[1000:][chosen])
    right.plot(predicted, fare[1000:][chosen], ".", ms=4, color=color, label=label)
right.axline((10, 10), slope=1, color="black", lw=0.8)
right.set(xlabel="predicted fare", ylabel="fare", title="taxi")
right.legend(frameon=False)
plt.show()
