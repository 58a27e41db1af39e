"""``thetahat compare``: compare several models on a table, with confidence intervals."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from math import isfinite
from typing import Any

from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "compare",
        help="compare several models on a table, with confidence intervals",
        description="Fit several models to a table on the same folds, and report which one "
        "predicts the target best, by how much, and with which confidence.",
    )
    options.add_data(parser)
    options.add_columns(parser)
    options.add_order(parser)
    options.add_test(parser)
    parser.add_argument(
        "--models",
        help="names separated by commas, without case, such as ridge,knn,forest,stack (default: "
        "the usual ones and a stack of the best)",
    )
    parser.add_argument("--cv", type=int, default=5, help="number of folds (default 5)")
    parser.add_argument("--scoring", help="name of a scikit-learn metric (accuracy, r2, ...)")
    parser.add_argument(
        "--margin",
        default="1%",
        help="largest difference of two scores that counts as practically equal: a number in the "
        "unit of the metric, or a percentage of the score (default 1%%)",
    )
    parser.add_argument("--report", metavar="FILE", help="write an HTML report to this file")
    options.add_tuning(parser)
    options.add_seed(parser)
    options.add_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the table, compare the models, print the result, and write the report.

    The exit code is that of an interrupt if it has stopped some of the models.
    """
    from thetahat.evaluation.tuning.time_limit import seconds_of
    from thetahat.interfaces.plain import as_json
    from thetahat.interfaces.threshold import decide, rule_of
    from thetahat.interfaces.trial import try_models

    begun, console = time.monotonic(), Console(quiet=arguments.quiet)
    if arguments.report:
        files = {arguments.data: "the table", arguments.test: "the table of --test"}
        options.require_output(arguments.report, files)
    _require_margin(arguments.margin)
    seconds = seconds_of(arguments.time_limit, "--time-limit")
    problem = read_problem(arguments, console)
    rule = rule_of(problem, arguments.cost, arguments.threshold, arguments.positive)
    trial = try_models(
        problem,
        console,
        asked=options.names_asked_for(arguments.models, "--models"),
        cv=arguments.cv,
        scoring=arguments.scoring,
        margin=arguments.margin,
        seed=arguments.seed,
        order=options.order_asked_for(arguments),
        test=further_rows(problem, arguments),
        time_limit=seconds,
        begun=begun,
        thresholds=rule is not None,
    )
    code = options.INTERRUPTED if trial.unfinished else 0
    decision = None if rule is None else decide(rule, trial.held, problem)
    for note in trial.notes:
        console.say(f"note: {note}")
    shown: dict[str, Any] = {}
    if arguments.report:
        from thetahat.interfaces.report.page import write_report

        shown = write_report(trial, arguments.report, arguments.data, console, decision)
    if arguments.json:
        data = as_data(trial, arguments) | {"threshold": decision and decision.note}
        console.result(as_json(data | shown))
        return code
    console.say()
    console.table(trial.headers, trial.rows(), best=0)
    console.result()
    for sentence in trial.sentences:
        console.result(sentence)
    if decision is not None:
        console.result(decision.sentence)
    if trial.findings.severe:
        console.result(trial.caution)
    if arguments.report:
        console.result(f"report: {arguments.report}")
    return code


def read_problem(arguments: argparse.Namespace, console: Console) -> Any:
    """The problem in a table, after printing how its columns were interpreted."""
    from thetahat.interfaces.problem import pose, require_target
    from thetahat.interfaces.tables.reading import read_table

    options.require_seed(arguments)
    table = read_table(arguments.data, delimiter=arguments.delimiter, encoding=arguments.encoding)
    require_target(table, arguments.target)
    options.require_roles(arguments, table.columns)
    problem = pose(
        table,
        arguments.target,
        task=arguments.task,
        kinds=options.kinds_asked_for(arguments) | _group_left_out(arguments),
        keep=tuple(arguments.keep),
    )
    name = "standard input" if arguments.data == "-" else arguments.data
    console.say(
        f"{name}: {problem.n_rows:,} rows; {problem.task} of {problem.target} ({problem.reason})"
    )
    kinds = Counter(found.kind for found in problem.columns if found.kind != "drop")
    console.say("columns: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    for kind in ("date", "text", "ordinal"):
        names = [found.name for found in problem.columns if found.kind == kind]
        if names:
            console.say(f"  {kind}: {_listed(names)}")
    dropped = [found for found in problem.columns if found.kind == "drop"]
    for found in dropped[:10]:
        console.say(f"  left out: {found.name} ({found.reason})")
    if len(dropped) > 10:
        console.say(f"  left out: {len(dropped) - 10} more")
    for note in problem.notes:
        console.say(f"note: {note}")
    return problem


def further_rows(problem: Any, arguments: argparse.Namespace) -> Any:
    """The rows of --test, with the columns and kinds of the problem; None without it."""
    if not arguments.test:
        return None
    from thetahat.interfaces.findings import further_table
    from thetahat.interfaces.tables.reading import read_table

    table = read_table(arguments.test, delimiter=arguments.delimiter, encoding=arguments.encoding)
    return further_table(problem, table)


def _require_margin(margin: str) -> None:
    from thetahat.evaluation.sampling.margins import margin_of
    from thetahat.foundation.errors import ParameterError

    try:
        margin_of(margin, 1.0)
    except ParameterError as refused:
        raise ParameterError(
            f"--margin {margin}: must be a number that is not negative, in the unit of the metric, "
            "or a percentage of the score such as 1%."
        ) from refused


def _group_left_out(arguments: argparse.Namespace) -> dict[str, str]:
    """The column that names the groups is not a column to predict from."""
    group = getattr(arguments, "group", None)
    return {} if group is None else {group: "drop"}


def as_data(trial: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """The result as plain values."""
    problem = trial.problem
    return {
        "data": arguments.data,
        "rows": problem.n_rows,
        "target": problem.target,
        "task": problem.task,
        "metric": trial.metric,
        "folds": trial.cv,
        "splits": trial.splits.words,
        "findings": [each.as_data(first_row=1) for each in trial.findings],
        "columns": {
            found.name: {
                "kind": found.kind,
                "reason": found.reason,
                "missing": found.n_missing,
                "distinct": found.n_distinct,
            }
            for found in problem.columns
        },
        "notes": [*problem.notes, *trial.notes],
        "models": [
            {
                "name": name,
                "score": each.intervals[trial.metric].estimate,
                "low": _end(each.intervals[trial.metric].low),
                "high": _end(each.intervals[trial.metric].high),
                "fit_seconds": float(each.fit_seconds.mean()),
                "fold_scores": each.scores[trial.metric].tolist(),
                "metrics": {metric: each.intervals[metric] for metric in each.scores},
                "settings": trial.settings(name),
            }
            for name, each in trial.comparison.evaluations.items()
        ],
        "pairs": [
            {
                "better": pair.better,
                "worse": pair.worse,
                "difference": pair.difference.estimate,
                "low": _end(pair.difference.low),
                "high": _end(pair.difference.high),
                "p": pair.test.p,
                "test": pair.difference.method,
                "margin": pair.margin,
                "equivalence_p": pair.equivalence,
                "practically_equal": pair.practically_equal,
            }
            for pair in trial.comparison.pairs
        ],
        "best": trial.best,
        "unfinished": list(trial.unfinished),
        "sentences": trial.sentences,
        "report": arguments.report,
    }


def _listed(names: list[str]) -> str:
    more = f", … ({len(names) - 8} more)" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more


def _end(value: float) -> float | None:
    """The end of an interval; None if it is infinite, which JSON cannot represent."""
    return value if isfinite(value) else None
