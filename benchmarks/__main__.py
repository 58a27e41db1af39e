"""``python -m benchmarks [family] [--case NAME] [--quick] [--json PATH]``.

Exit codes: 0; 1 when a bar is missed or could not be judged, a result is worse than a peer's, or
thetahat failed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import harness, machine, report
from benchmarks.families import FAMILIES, family_module

RESULTS = Path(__file__).parent / "results"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure thetahat and its peers, interleaved in one run.",
    )
    parser.add_argument("family", nargs="*", default=FAMILIES, help=f"of {', '.join(FAMILIES)}")
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="tiny data: does it run at all?")
    parser.add_argument("--json", type=Path, help="where to keep the results (default: results/)")
    arguments = parser.parse_args(argv)
    if unknown := set(arguments.family) - set(FAMILIES):
        parser.error(f"no family {', '.join(sorted(unknown))}; there is {', '.join(FAMILIES)}")
    return max([run_family(family, arguments) for family in arguments.family])


def run_family(family: str, arguments: argparse.Namespace) -> int:
    module = family_module(family)
    wanted = arguments.case.lower()
    path = arguments.json
    if path is None and not arguments.quick and not wanted:
        today = datetime.date.today().isoformat()
        path = RESULTS / f"{family}-{platform.machine()}-{today}.json"
    results: list[harness.Result] = []
    findings: dict[str, harness.Finding] = {}
    for case in module.CASES:
        if wanted in case.name.lower():
            results.append(harness.measure(family, case, quick=arguments.quick, say=_say))
            _keep(path, family, results, findings)
    for study in module.STUDIES:
        if wanted in study.name.lower():
            findings[study.name] = study.run(arguments.quick, _say)
            _keep(path, family, results, findings)

    bars = [bar for result in results for bar in result.bars()]
    bars += [bar for finding in findings.values() for bar in finding.bars]
    print(report.race_table(results) if results else "")
    for name, finding in findings.items():
        print(f"\n{name}\n\n{report.finding_table(finding)}")
    if bars and not arguments.quick:
        print(f"\nBars\n{report.bar_lines(bars)}")

    failed = any(
        result.quality_holds is False or (result.ours is not None and result.ours.error)
        for result in results
    )
    missed = not arguments.quick and not all(holds for _, _, holds in bars)
    return int(failed or missed)


def _keep(
    path: Path | None,
    family: str,
    results: Sequence[harness.Result],
    findings: dict[str, harness.Finding],
) -> None:
    """Write what was measured so far, so that an interrupted run is not lost."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_as_data(family, results, findings), indent=1) + "\n")


def _as_data(
    family: str, results: Sequence[harness.Result], findings: dict[str, harness.Finding]
) -> dict[str, Any]:
    return {
        "family": family,
        "date": datetime.date.today().isoformat(),
        "machine": machine.facts(),
        "cases": [report.result_as_data(result) for result in results],
        "studies": {
            name: {"rows": finding.rows, "bars": report.bars_as_data(finding.bars)}
            for name, finding in findings.items()
        },
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
