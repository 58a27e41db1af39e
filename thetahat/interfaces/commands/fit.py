"""``thetahat fit``: train a model on a table and write it to a file."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "fit",
        help="train a model on a table and write it to a file",
        description="Train a model on all rows of a table and write it to a file. Without --model, "
        "several models are compared first, and the best one is used.",
    )
    options.add_data(parser)
    options.add_columns(parser)
    parser.add_argument("--model", help="name of the model (default: the best of several)")
    parser.add_argument("--output", "-o", required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--cv", type=int, default=5, help="number of folds of the comparison (default 5)"
    )
    options.add_seed(parser)
    options.add_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read the table, choose a model, fit and save it."""
    from thetahat.foundation.atomic_file import require_place
    from thetahat.interfaces.commands.compare import read_problem
    from thetahat.interfaces.trial import try_models
    from thetahat.persistence.model_file import save

    console = Console(quiet=arguments.quiet)
    require_place(arguments.output)
    problem = read_problem(arguments, console)
    asked = [arguments.model] if arguments.model else None
    trial = try_models(problem, console, asked=asked, cv=arguments.cv, seed=arguments.seed)
    chosen = trial.best
    if arguments.model:
        chosen = next(name for name in trial.models if not name.startswith("always"))
    model = trial.models[chosen]
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(problem.X, problem.y)
    for each in {" ".join(str(warning.message).split()) for warning in said}:
        console.say(f"note: {each}")
    score = trial.comparison.evaluations[chosen].intervals[trial.metric]
    notes = {
        "predicts": problem.target,
        "task": problem.task,
        "trained on": "standard input" if arguments.data == "-" else arguments.data,
        "rows": problem.n_rows,
        "score": f"{trial.metric} {score}",
        "kinds": problem.kinds,
        "notations": problem.notations,
    }
    save(model, arguments.output, notes=notes)
    if arguments.json:
        console.result(json.dumps({"model": chosen, "file": arguments.output, **notes}, indent=2))
        return
    if not arguments.model:
        for sentence in trial.sentences[:1]:
            console.say(sentence)
    console.result(
        f"{arguments.output}: {chosen}, {trial.metric} {score}; trained on {problem.n_rows:,} rows "
        f"in {time.perf_counter() - begun:.2g} s"
    )
