"""``thetahat fit``: train a model on a table and write it to a file."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console

NOTHING_LEARNED = 3


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
    options.add_order(parser)
    parser.add_argument("--model", help="name of the model (default: the best of several)")
    parser.add_argument("--output", "-o", required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--cv", type=int, default=5, help="number of folds of the comparison (default 5)"
    )
    options.add_tuning(parser)
    options.add_seed(parser)
    options.add_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the table, choose a model, fit and save it, and return the exit code."""
    from thetahat.evaluation.tuning.time_limit import seconds_of
    from thetahat.interfaces.commands.compare import read_problem
    from thetahat.interfaces.plain import as_json
    from thetahat.interfaces.threshold import NOTE, decide, decided, rule_of
    from thetahat.interfaces.trial import try_models
    from thetahat.persistence.model_file import save

    console = Console(quiet=arguments.quiet)
    options.require_output(arguments.output, {arguments.data: "the table"})
    seconds = seconds_of(arguments.time_limit, "--time-limit")
    problem = read_problem(arguments, console)
    rule = rule_of(problem, arguments.cost, arguments.threshold, arguments.positive)
    asked = options.one_name_asked_for(arguments.model, "--model")
    trial = try_models(
        problem,
        console,
        asked=asked,
        option="--model",
        cv=arguments.cv,
        seed=arguments.seed,
        order=options.order_asked_for(arguments),
        time_limit=seconds,
        thresholds=rule is not None,
    )
    if trial.unfinished and arguments.model:
        raise KeyboardInterrupt
    chosen = trial.best
    if arguments.model:
        chosen = trial.asked[0] if trial.asked else trial.stack
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = trial.fitted(chosen)
        decision = None if rule is None else decide(rule, trial.held_of(chosen), problem)
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
    if decision is not None:
        notes[NOTE] = decision.note
    errors = _errors(model, trial, chosen)
    save(model, arguments.output, notes={**notes, **errors, **_origin(arguments.data)})
    constant = _is_constant(decided(model, notes), problem.X)
    learned = not constant or (bool(arguments.model) and chosen.startswith("always"))
    code = 0 if learned else NOTHING_LEARNED
    if trial.unfinished:
        code = options.INTERRUPTED
    if constant:
        console.warn(
            f"nothing was learned: {chosen} predicts the same for every row, so {arguments.output} "
            "holds a constant"
        )
    if arguments.json:
        data = {"model": chosen, "file": arguments.output, "learned": learned, **notes}
        console.result(as_json(data))
        return code
    if not arguments.model:
        for sentence in trial.sentences[:1]:
            console.say(sentence)
    console.result(
        f"{arguments.output}: {chosen}, {trial.metric} {score}; trained on {problem.n_rows:,} rows "
        f"in {time.perf_counter() - begun:.2g} s"
    )
    if decision is not None:
        console.say(decision.sentence)
    return code


def _errors(model: Any, trial: Any, chosen: str) -> dict[str, Any]:
    """The errors on held-out rows, from which predict --interval makes intervals and sets."""
    from thetahat.evaluation.conformal_prediction.calibration import calibrated
    from thetahat.foundation.errors import CapabilityError

    try:
        fits = trial.comparison.evaluations[chosen].fits
        found = calibrated(model, fits, trial.problem.y, trial.splits.groups)
    except CapabilityError:
        return {}
    return {"conformal": found.as_data()}


def _origin(path: str) -> dict[str, Any]:
    """The digest of the training file, by which explain recognises it."""
    from thetahat.interfaces.tables.reading import digest_of

    digest = digest_of(path)
    return {} if digest is None else {"origin": {"sha256": digest}}


def _is_constant(model: Any, X: Any) -> bool:
    """Whether a fitted model predicts the same for the training rows, with equal certainty."""
    import numpy as np

    said = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    if said.dtype.kind != "f":
        return bool((said == said[:1]).all())
    spread = np.ptp(said, axis=0)
    return bool((spread <= 1e-9 * np.abs(said).max(axis=0)).all())
