"""Files as users have them."""

import numpy as np
import polars as pl
import pytest


@pytest.fixture(autouse=True)
def width(monkeypatch):
    """Lines are wrapped at the width of the terminal, which differs between machines."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(autouse=True)
def untuned(monkeypatch):
    """Models are tuned where a test asks for it."""
    monkeypatch.setattr("thetahat.interfaces.commands.options.TIME_LIMIT", "0")


def with_gaps(values, share, random):
    gaps = random.random(len(values)) < share
    return [None if gap else each for each, gap in zip(values, gaps, strict=True)]


@pytest.fixture(scope="session")
def houses():
    """Numbers, categories, an order, dates, gaps and a price that follows from most of them."""
    random = np.random.default_rng(0)
    n = 240
    size = random.uniform(30, 200, n).round(1)
    colour = random.choice(["red", "green", "blue"], n)
    state = random.choice(["poor", "fair", "good", "excellent"], n)
    built = np.datetime64("1990-01-01") + random.integers(0, 10_000, n).astype("timedelta64[D]")
    worth = {"poor": 0, "fair": 10, "good": 25, "excellent": 60}
    price = 2.0 * size + np.array([worth[each] for each in state]) + random.normal(0, 5, n)
    table = pl.DataFrame(
        {
            "id": np.arange(n),
            "size": with_gaps(size, 0.1, random),
            "colour": with_gaps(colour, 0.05, random),
            "state": state,
            "built": built,
            "nothing": ["x"] * n,
            "price": price.round(2),
            "sold": np.where(price + random.normal(0, 40, n) > 250, "yes", "no"),
        }
    )
    return table


@pytest.fixture
def houses_csv(houses, tmp_path):
    path = tmp_path / "houses.csv"
    houses.write_csv(path)
    return str(path)


@pytest.fixture
def reviews_csv(tmp_path):
    """Text that says whether somebody liked a film."""
    random = np.random.default_rng(0)
    good = ["wonderful", "moving", "great", "brilliant"]
    bad = ["boring", "awful", "dull", "terrible"]
    lines = ["review,liked"]
    for _ in range(200):
        liked = random.random() < 0.5
        words = [*random.choice(good if liked else bad, 2), "a", "film", "with", "actors"]
        lines.append(f'"{" ".join(random.permutation(words))}",{"yes" if liked else "no"}')
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)
