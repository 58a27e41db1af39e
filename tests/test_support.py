"""The table of where rows may be is true: models are fitted to rows of each place, or refuse."""

import numpy as np
import pytest
from sklearn.base import is_classifier

import thetahat as th
from docs.public_face import public_names
from docs.support import on_dask, support_rows, supports
from tests.conformance.estimator_cases import ESTIMATORS, brief
from thetahat.data.distributed.dask_source import DaskSource
from thetahat.data.source import Source
from thetahat.foundation.errors import CapabilityError

FILES = 1
"""Place of the column "files" in the table."""
COUNTS = {"CategoricalNB", "DiscreteNB"}
"""Models of whole numbers."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = np.abs(rng.standard_normal((120, 4))) + 0.1
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "rows.npy", rows)
    np.save(folder / "counts.npy", rng.integers(0, 3, (120, 4)).astype(float))
    np.save(folder / "numbers.npy", rows[:, 0] + 0.1 * np.abs(rng.standard_normal(120)))
    np.save(folder / "labels.npy", (rows[:, 1] > rows[:, 2]).astype(float))
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_files(folder, name):
    model = type(ESTIMATORS[name])._example()
    target = "labels.npy" if is_classifier(model) else "numbers.npy"
    rows = "counts.npy" if name in COUNTS else "rows.npy"
    source = th.scan(folder / rows, target=folder / target)
    if supports(type(model))[FILES]:
        model.fit(source)
        methods = ("predict", "transform", "score_samples")
        first = next((each for each in methods if hasattr(model, each)), None)
        if first is not None:
            found = getattr(model, first)(source)
            n_rows = found.n_rows if isinstance(found, Source) else found.shape[0]
            assert n_rows == 120
    else:
        with pytest.raises((CapabilityError, TypeError), match=r"in memory|source\.arrays|'y'"):
            model.fit(source)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_dask(folder, name, monkeypatch):
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    model = brief(ESTIMATORS[name])
    target = "labels.npy" if is_classifier(model) else "numbers.npy"
    rows = "counts.npy" if name in COUNTS else "rows.npy"
    reads, blocks = [], DaskSource.blocks

    def counted(self):
        reads.append(self)
        return blocks(self)

    monkeypatch.setattr(DaskSource, "blocks", counted)
    with dask.config.set(scheduler="synchronous"):
        source = th.from_dask(
            da.from_array(np.load(folder / rows), chunks=(50, 4)),
            da.from_array(np.load(folder / target), chunks=50),
        )
        if on_dask(type(model)):
            model.fit(source)
            assert ("client" if reads else "workers") == on_dask(type(model))
        else:
            with pytest.raises((CapabilityError, TypeError), match=r"in memory|source\.arrays|'y'"):
                model.fit(source)


def test_the_table_has_every_estimator():
    listed = {row[0].split("`")[1].split()[0] for row in support_rows(public_names())}
    assert set(ESTIMATORS) <= listed
