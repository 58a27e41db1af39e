"""
A map of Europe from genomes
============================

Each person is a row, each genetic marker a column that counts copies of one variant: 0, 1 or 2.
Neighbouring countries have similar frequencies of the variants. Two principal components, found
without any knowledge of places, arrange the people like the map. The genomes are simulated: 1,400
people with 20,000 markers. The study that made this picture known had 200,000 markers; with that
many, the script needs about 5 GB of memory and the fit half a minute.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

PEOPLE, MARKERS = 1400, 20_000
COUNTRIES = {  # degrees of longitude and latitude
    "PT": (-8, 39.5),
    "ES": (-4, 40),
    "FR": (2.5, 47),
    "IT": (12.5, 42),
    "CH": (8, 47),
    "DE": (10.5, 51),
    "GB": (-1.5, 53),
    "IE": (-8, 53),
    "PL": (19.5, 52),
    "HU": (19, 47),
    "GR": (22, 39.5),
    "SE": (15, 60),
}


def genomes(people, markers, seed):
    """Counts of variants, countries, and the places where people live."""
    random = np.random.default_rng(seed)
    country = random.integers(len(COUNTRIES), size=people)
    place = np.array(list(COUNTRIES.values()))[country] + random.normal(0, 1.2, (people, 2))
    slope = random.normal(0, 0.02, (2, markers)).astype(np.float32)
    middle = random.normal(-0.5, 0.8, markers).astype(np.float32)
    distance = ((place - place.mean(axis=0)) * [0.7, 1.0]).astype(np.float32)
    share = 1 / (1 + np.exp(-distance @ slope - middle))
    copies = np.zeros((people, markers), dtype=np.float32)
    for _ in range(2):  # one variant from each parent
        copies += random.random(share.shape, dtype=np.float32) < share
    return copies, country, place


X, country, place = genomes(PEOPLE, MARKERS, seed=0)
model = th.PCA(2, random_state=0).fit(X)
z = model.transform(X)

# %%
# The components are found up to rotation and scale. Least squares turns them to the map.

turned = th.LinearRegression().fit(z, place)
correlation = [np.corrcoef(turned.predict(z)[:, k], place[:, k])[0, 1] for k in range(2)]
nearest = th.NearestCentroid().fit(z, country).score(z, country)
print(
    f"The components are {X.shape[1]:,} numbers each, and {z.shape[1]} numbers describe a person."
)
print(f"Correlation with longitude {correlation[0]:.3f}, with latitude {correlation[1]:.3f}.")
print(
    f"The nearest country on the map of genomes is the person's own in {nearest:.0%} of the cases."
)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
colors = plt.cm.tab20(np.arange(len(COUNTRIES)))
for ax, points, title in (
    (left, place, "where people live"),
    (right, turned.predict(z), "two components of their genomes, turned"),
):
    ax.scatter(*points.T, s=4, c=colors[country], alpha=0.7)
    for index, name in enumerate(COUNTRIES):
        middle = points[country == index].mean(axis=0)
        ax.annotate(name, middle, ha="center", va="center", fontsize=11, weight="bold")
    ax.set(title=title, xlabel="longitude", ylabel="latitude")
plt.show()
