"""The HTML page: models, quality and explanation of the best model, data, how to reproduce it."""

from __future__ import annotations

import shlex
import sys
import warnings
from html import escape
from importlib.resources import files
from math import isfinite
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.atomic_file import atomic_file
from thetahat.interfaces.console import Console
from thetahat.interfaces.explanation import Explanation, explain
from thetahat.interfaces.plotted import plotted
from thetahat.interfaces.quality import ClassQuality, NumberQuality, held_out, quality
from thetahat.interfaces.report import pictures
from thetahat.interfaces.report.cells import document, quiet, sentence, table, tidy
from thetahat.interfaces.report.classes import classes_section
from thetahat.interfaces.report.columns import columns_section
from thetahat.interfaces.report.findings import findings_section
from thetahat.interfaces.report.numbers import numbers_section
from thetahat.interfaces.report.svg import interval_row, shortened, sparkline
from thetahat.interfaces.scoring import metric_name
from thetahat.interfaces.threshold import Decision
from thetahat.interfaces.trial import Trial
from thetahat.persistence.model_file import versions

MOST_COLUMNS = 200


def write_report(
    trial: Trial, path: str, data: str, console: Console, decision: Decision | None = None
) -> dict[str, Any]:
    """Explain the best model and write the page, completely or not at all.

    With a `decision`, classes are predicted at its threshold.
    Returns the numbers of the page that the comparison does not have.
    """
    problem = trial.problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        console.say(f"explaining {trial.best}")
        fits, best = trial.held.fits, trial.shown_model
        classes = np.unique(problem.y) if problem.task == "classification" else None
        held = held_out(fits, problem.X, problem.y, classes)
        found = quality(held, decision)
        explained = explain(
            best,
            problem.X,
            problem.y,
            scoring=trial.metric,
            held=held,
            file_rows=problem.rows,
            unseen=[(fit.estimator, problem.X[fit.rows], problem.y[fit.rows]) for fit in fits],
        )
        text = page(trial, data, found, explained)
    with atomic_file(path) as file:
        file.write(text.encode())
    drawn = plotted(found, problem.X, explained.most_important, problem.rows)
    return {
        "quality": {**found.as_data(), "plotted": drawn},
        "explanation": explained.as_data(),
        "distributions": {
            each.name: pictures.distribution(each.values) for each in problem.columns[:MOST_COLUMNS]
        },
        "fits": _fits(trial),
        "fit_seconds": _seconds(trial),
        "versions": versions(),
    }


def page(
    trial: Trial, data: str, found: ClassQuality | NumberQuality, explained: Explanation
) -> str:
    """The whole document."""
    name = "standard input" if data == "-" else data.rpartition("/")[2]
    body = "".join(
        [
            _header(trial, name),
            findings_section(trial.findings),
            _models(trial),
            _quality(trial, found, explained.most_important),
            f"<h2>Columns that matter to {escape(trial.best)}</h2>",
            columns_section(explained, trial.metric),
            quiet(trial.shown_words) if trial.shown_words else "",
            _data(trial),
            _again(trial),
        ]
    )
    return document(f"{trial.problem.target} in {name}", style(), body)


def style() -> str:
    """The style sheet of the pages."""
    return (files("thetahat.interfaces.report") / "style.css").read_text()


def _header(trial: Trial, name: str) -> str:
    problem = trial.problem
    used = sum(found.kind != "drop" for found in problem.columns)
    sentences = trial.sentences
    caution = f'<p class="caution">{escape(trial.caution)}</p>' if trial.caution else ""
    also = "".join(f'<p class="also">{escape(sentence(each))}</p>' for each in sentences[1:])
    return (
        f"<header><h1>{escape(problem.target)} <span class='quiet'>in {escape(name)}</span></h1>"
        f'<p class="facts">{problem.task} · {problem.n_rows:,} rows · {used} columns · '
        f"{len(trial.models)} models · {escape(trial.splits.words)}</p>"
        f'<p class="verdict">{escape(sentence(sentences[0]))}</p>{also}{caution}</header>'
    )


def _models(trial: Trial) -> str:
    found = trial.comparison.evaluations
    intervals = [each.intervals[trial.metric] for each in found.values()]
    # If all folds score alike, an interval may be unbounded; its bar then has the full width.
    ends = [end for each in intervals for end in (each.low, each.estimate, each.high)]
    span = (min(filter(isfinite, ends)), max(filter(isfinite, ends)))
    rows = []
    for (name, each), cells in zip(found.items(), trial.rows(), strict=True):
        score = each.intervals[trial.metric]
        low, high = max(score.low, span[0]), min(score.high, span[1])
        picture = interval_row(low, score.estimate, high, span)
        rows.append(
            [escape(name), picture, *(escape(text).replace("-", "−") for text in cells[1:])]
        )
    heads = ["model", "", metric_name(trial.metric), *trial.headers[2:]]
    best = list(found).index(trial.best)
    return (
        f"<h2>Models</h2>{table(heads, rows, 'tpn' + 'N' * (len(heads) - 3), best=best)}"
        + quiet(
            f"{sentence(metric_name(trial.metric))} on held-out rows, mean over "
            f"{trial.splits.words}; the bar is the "
            f"{intervals[0].level:.0%} interval ({intervals[0].method})."
        )
        + _other_metrics(trial, best)
    )


def _other_metrics(trial: Trial, best: int) -> str:
    """Further metrics of every model, each with its interval."""
    found = trial.comparison.evaluations
    others = [name for name in next(iter(found.values())).scores if name != trial.metric]
    if not others:
        return ""
    rows = [
        [escape(name), *(_score(each.intervals[other], other) for other in others)]
        for name, each in found.items()
    ]
    heads = ["model", *map(metric_name, others)]
    return (
        f"<h3>Other metrics</h3>{table(heads, rows, 't' + 'n' * len(others), best=best)}"
        + quiet(
            "On the same held-out rows, with 95% intervals. Smaller is better for errors and "
            "losses, larger for all others."
        )
    )


def _score(score: Interval, metric: str) -> str:
    sign = -1.0 if metric.startswith("neg_") else 1.0
    low, high = sorted((sign * score.low, sign * score.high))
    ends = f"{tidy(low)} to {tidy(high)}" if isfinite(low) and isfinite(high) else "unknown"
    return f'{tidy(sign * score.estimate, 4)}<br><span class="quiet">{ends}</span>'


def _quality(trial: Trial, found: ClassQuality | NumberQuality, top: list[str]) -> str:
    """The quality of the best model; errors of numbers also against its most important columns."""
    head = f"<h2>How good is {escape(trial.best)}?</h2>"
    if isinstance(found, ClassQuality):
        return head + classes_section(found)
    return head + numbers_section(found, trial.problem.target, trial.problem.X, top)


def _data(trial: Trial) -> str:
    problem = trial.problem
    rows = []
    for found in problem.columns[:MOST_COLUMNS]:
        missing = found.n_missing / max(1, len(found.values))
        rows.append(
            [
                escape(shortened(found.name, 40)),
                "left out" if found.kind == "drop" else found.kind,
                f'<span class="quiet">{escape(found.reason)}</span>',
                f"{missing:.1%}" if missing else "–",
                sparkline(pictures.distribution(found.values)),
            ]
        )
    more = len(problem.columns) - MOST_COLUMNS
    rest = quiet(f"and {more:,} more columns.") if more > 0 else ""
    notes = "".join(
        f'<li class="note">{escape(each)}</li>' for each in [*problem.notes, *trial.notes]
    )
    heads = ["column", "kind", "reason", "missing", "values"]
    return (
        "<h2>Data</h2>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + table(heads, rows, "ttTnt")
        + rest
    )


def _fits(trial: Trial) -> int:
    return len(trial.models) * trial.cv


def _seconds(trial: Trial) -> float:
    return sum(
        float(each.fit_seconds.sum() + each.predict_seconds.sum())
        for each in trial.comparison.evaluations.values()
    )


def _again(trial: Trial) -> str:
    command = shlex.join(["thetahat", *sys.argv[1:]])
    made = ", ".join(
        f"{name} {version}" for name, version in versions().items() if name != "format"
    )
    return (
        f"<h2>How to reproduce this</h2><p>{_fits(trial)} fits, {_seconds(trial):.1f} s of "
        "computing time.</p>"
        f'<pre>{escape(command)}</pre><p class="quiet">{escape(made)}</p>'
    )
