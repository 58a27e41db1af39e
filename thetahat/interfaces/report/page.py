"""The HTML page: models, quality and explanation of the best model, data, how to reproduce it."""

from __future__ import annotations

import shlex
import sys
import warnings
from html import escape
from importlib.resources import files
from math import isfinite

import numpy as np

from thetahat.evaluation.confusion import confusion
from thetahat.evaluation.curves.calibration import calibration_curve
from thetahat.evaluation.curves.roc import roc_curve
from thetahat.evaluation.evaluate import Evaluation
from thetahat.foundation.atomic_file import atomic_file
from thetahat.foundation.types import Array
from thetahat.interfaces.console import Console
from thetahat.interfaces.explanation import Explanation, explain
from thetahat.interfaces.report import pictures
from thetahat.interfaces.report.findings import findings_section
from thetahat.interfaces.report.svg import interval_row, sparkline
from thetahat.interfaces.trial import UNITS, Trial
from thetahat.persistence.model_file import versions

MOST_COLUMNS = 200
MOST_CLASSES = 12
MOST_IMPORTANCES = 15
MOST_COEFFICIENTS = 20


def write_report(trial: Trial, path: str, data: str, console: Console) -> None:
    """Explain the best model and write the page, completely or not at all."""
    problem = trial.problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        console.say(f"explaining {trial.best}")
        held, best = trial.held, trial.fitted(trial.best)
        unseen = [(fit.estimator, problem.X[fit.rows], problem.y[fit.rows]) for fit in held.fits]
        found = explain(best, problem.X, problem.y, scoring=trial.metric, unseen=unseen)
    text = page(trial, data, held, found)
    with atomic_file(path) as file:
        file.write(text.encode())


def page(trial: Trial, data: str, held: Evaluation, found: Explanation) -> str:
    """The whole document."""
    name = "standard input" if data == "-" else data.rpartition("/")[2]
    style = (files("thetahat.interfaces.report") / "style.css").read_text()
    body = "".join(
        [
            _header(trial, name),
            findings_section(trial.findings),
            _models(trial),
            _goodness(trial, held),
            _explanation(trial, found),
            _data(trial),
            _again(trial),
        ]
    )
    title = escape(f"{trial.problem.target} in {name}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title>'
        f"<style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )


def _header(trial: Trial, name: str) -> str:
    problem = trial.problem
    used = sum(found.kind != "drop" for found in problem.columns)
    sentences = trial.sentences
    doubt = f'<p class="doubt">{escape(trial.doubt)}</p>' if trial.doubt else ""
    also = "".join(f'<p class="also">{escape(_sentence(each))}</p>' for each in sentences[1:])
    return (
        f"<header><h1>{escape(problem.target)} <span class='quiet'>in {escape(name)}</span></h1>"
        f'<p class="facts">{problem.task} · {problem.n_rows:,} rows · {used} columns · '
        f"{len(trial.models)} models · {escape(trial.splits.words)}</p>"
        f'<p class="verdict">{escape(_sentence(sentences[0]))}</p>{also}{doubt}</header>'
    )


def _models(trial: Trial) -> str:
    found = trial.comparison.evaluations
    intervals = [each.intervals[trial.metric] for each in found.values()]
    # If all folds score alike, an interval may be unbounded; its bar then has the full width.
    ends = [end for each in intervals for end in (each.low, each.estimate, each.high)]
    span = (min(filter(isfinite, ends)), max(filter(isfinite, ends)))
    rows = ""
    for (name, each), cells in zip(found.items(), trial.rows(), strict=True):
        score = each.intervals[trial.metric]
        low, high = max(score.low, span[0]), min(score.high, span[1])
        kind = ' class="best"' if name == trial.best else ""
        rows += (
            f"<tr{kind}><td>{escape(name)}</td>"
            f'<td class="picture">{interval_row(low, score.estimate, high, span)}</td>'
            f'<td class="n">{escape(cells[1])}</td><td class="n wide">{escape(cells[2])}</td>'
            f'<td class="n wide">{escape(cells[3])}</td></tr>'
        )
    head = "".join(
        f'<th class="n{" wide" if place else ""}">{escape(text)}</th>'
        for place, text in enumerate(trial.headers[1:])
    )
    method = intervals[0].method
    return (
        f"<h2>Models</h2><table><thead><tr><th>model</th><th></th>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        f'<p class="quiet">{escape(trial.metric)} on held-out rows, mean over '
        f"{escape(trial.splits.words)}; "
        f"the bar is the {intervals[0].level:.0%} interval ({escape(method)})."
        "</p>"
    )


def _goodness(trial: Trial, held: Evaluation) -> str:
    problem = trial.problem
    rows, predicted, certainties = _held_out(held)
    y = problem.y[rows]
    if problem.task == "regression":
        drawn = [
            (
                "Predicted and true values",
                "Each dot is a held-out row. On the line, the prediction is exact.",
                pictures.predicted_against_true(y, predicted, problem.target),
            ),
            (
                "Errors",
                _typical_error(y, predicted, problem.target),
                pictures.residuals(y, predicted, problem.target),
            ),
        ]
        return f"<h2>How good is {escape(trial.best)}?</h2>{_figures(drawn)}"
    drawn = []
    classes = np.unique(y)
    shares = _probabilities(held, len(problem.y), np.unique(problem.y))
    if len(classes) < 2:
        shares = None
    shares = None if shares is None else shares[rows]
    if len(classes) == 2:
        scores = certainties if shares is None else shares[:, 1]
        if scores is not None:
            of_last = scores[:, -1] if np.ndim(scores) == 2 else scores
            curve = roc_curve(y, of_last, positive=classes[1])
            area = curve.area
            caption = (
                f"Share of {classes[1]} found (true positive rate) against the false positive "
                "rate, for all thresholds. Area "
                f"{area.estimate:.3f} ({area.low:.3f} to {area.high:.3f})."
            )
            drawn.append(("ROC curve", caption, pictures.roc(curve)))
    if shares is not None:
        label = classes[-1]
        calibration = calibration_curve(y, shares[:, -1], positive=label)
        caption = (
            f"Share of rows that are {label}, for rows with predicted probability p. On the line, "
            "the two are equal."
        )
        drawn.append(("Calibration", caption, pictures.calibration(calibration)))
    table = _confusion(y, predicted) if len(classes) <= MOST_CLASSES else ""
    return f"<h2>How good is {escape(trial.best)}?</h2>{_figures(drawn)}{table}"


def _held_out(held: Evaluation) -> tuple[Array, Array, Array | None]:
    """The rows that were held out, with predictions and certainties; not all are, in time order."""
    rows = np.concatenate([fit.rows for fit in held.fits])
    order = np.argsort(rows, kind="stable")
    predicted = np.concatenate([fit.predictions for fit in held.fits])[order]
    parts = [fit.certainty for fit in held.fits if fit.certainty is not None]
    alike = len(parts) == len(held.fits) and len({part.shape[1:] for part in parts}) == 1
    return rows[order], predicted, np.concatenate(parts)[order] if alike else None


def _typical_error(y: Array, predicted: Array, target: str) -> str:
    off = np.abs(predicted - y)
    return (
        f"Half of the predictions are within {np.median(off):.3g} of the true {target}, and "
        f"90% within {np.quantile(off, 0.9):.3g}."
    )


def _probabilities(held: Evaluation, n: int, classes: Array) -> Array | None:
    """Probabilities of all rows, each from the model that was fitted without this row."""
    shares = np.full((n, len(classes)), np.nan)
    for fit in held.fits:
        model = fit.estimator
        if fit.certainty is None or not hasattr(model, "predict_proba"):
            return None
        if np.ndim(fit.certainty) == 2 and fit.certainty.shape[1] != len(classes):
            return None
        if np.ndim(fit.certainty) == 2 and np.allclose(np.sum(fit.certainty, axis=1), 1.0):
            shares[fit.rows] = fit.certainty
        elif all(each.certainty is not None and each.certainty.ndim == 1 for each in held.fits):
            return _from_log_odds(held, n)
        else:
            return None
    return shares


def _from_log_odds(held: Evaluation, n: int) -> Array:
    """Probabilities of two classes from the log-odds of logistic models."""
    odds = np.empty(n)
    for fit in held.fits:
        odds[fit.rows] = fit.certainty
    positive = 1.0 / (1.0 + np.exp(-odds))
    return np.column_stack([1.0 - positive, positive])


def _confusion(y: Array, predicted: Array) -> str:
    table = confusion(y, predicted)
    head = "".join(f"<th>{escape(str(label))}</th>" for label in table.classes)
    rows = ""
    for place, label in enumerate(table.classes):
        cells = "".join(
            f'<td class="{"hit" if place == other else ""}">{count:,.0f}</td>'
            for other, count in enumerate(table.counts[place])
        )
        rows += f"<tr><th>{escape(str(label))}</th>{cells}</tr>"
    return (
        '<h3>Confusion matrix</h3><div class="scroll"><table class="confusion"><thead><tr>'
        f"<th>true ╲ predicted</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _explanation(trial: Trial, found: Explanation) -> str:
    scale, unit = UNITS.get(trial.metric, (1.0, ""))
    shown = list(found.importances.intervals.items())[:MOST_IMPORTANCES]
    span = (min(0.0, *(each.low for _, each in shown)), max(each.high for _, each in shown))
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td>"
        f'<td class="picture">{interval_row(each.low, each.estimate, each.high, span)}</td>'
        f'<td class="n">{_tidy(scale * each.estimate)}{unit}</td>'
        f'<td class="n wide">{_tidy(scale * each.low)} to {_tidy(scale * each.high)}</td></tr>'
        for name, each in shown
    )
    drawn = [
        (str(each.column), f"mean {each.response}, other columns fixed", pictures.effect(each))
        for each in found.effects
    ]
    return (
        f"<h2>Columns that matter to {escape(trial.best)}</h2><table><thead><tr><th>column</th>"
        f'<th></th><th class="n">loss of {escape(trial.metric)}</th>'
        '<th class="n wide">95% interval</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
        '<p class="quiet">Loss of score on held-out rows when the column is shuffled. If two '
        "columns carry the same information, both losses are small.</p>"
        f"{_figures(drawn)}{_coefficients(found)}"
    )


def _coefficients(found: Explanation) -> str:
    if not found.coefficients:
        return ""
    shown = list(found.coefficients.items())[:MOST_COEFFICIENTS]
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="n">{_tidy(each.estimate)}</td>'
        f'<td class="n">{_tidy(each.low)} to {_tidy(each.high)}</td></tr>'
        for name, each in shown
    )
    return (
        '<h3>Coefficients</h3><table><thead><tr><th>column</th><th class="n">value</th>'
        f'<th class="n">95% interval</th></tr></thead><tbody>{rows}</tbody></table>'
        '<p class="quiet">Numeric columns are scaled to standard deviation 1. The intervals are '
        "from bootstrap refits.</p>"
    )


def _data(trial: Trial) -> str:
    problem = trial.problem
    rows = ""
    for found in problem.columns[:MOST_COLUMNS]:
        missing = found.n_missing / max(1, len(found.values))
        kind = "left out" if found.kind == "drop" else found.kind
        rows += (
            f"<tr><td>{escape(found.name)}</td><td>{kind}</td>"
            f'<td class="wide quiet">{escape(found.reason)}</td>'
            f'<td class="n">{f"{missing:.1%}" if missing else "–"}</td>'
            f"<td>{sparkline(pictures.distribution(found.values))}</td></tr>"
        )
    more = len(problem.columns) - MOST_COLUMNS
    rest = f'<p class="quiet">and {more:,} more columns.</p>' if more > 0 else ""
    notes = "".join(
        f'<li class="note">{escape(each)}</li>' for each in [*problem.notes, *trial.notes]
    )
    return (
        "<h2>Data</h2>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + '<table><thead><tr><th>column</th><th>kind</th><th class="wide">reason</th>'
        '<th class="n">missing</th><th>values</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{rest}"
    )


def _again(trial: Trial) -> str:
    spent = sum(
        float(each.fit_seconds.sum() + each.predict_seconds.sum())
        for each in trial.comparison.evaluations.values()
    )
    command = shlex.join(["thetahat", *sys.argv[1:]])
    made = ", ".join(
        f"{name} {version}" for name, version in versions().items() if name != "format"
    )
    fits = len(trial.models) * trial.cv
    return (
        f"<h2>How to reproduce this</h2><p>{fits} fits, {spent:.1f} s of computing time.</p>"
        f'<pre>{escape(command)}</pre><p class="quiet">{escape(made)}</p>'
    )


def _figures(drawn: list[tuple[str, str, str]]) -> str:
    inside = "".join(
        f"<figure><h3>{escape(title)}</h3><figcaption>{escape(caption)}</figcaption>{picture}</figure>"
        for title, caption, picture in drawn
    )
    return f'<div class="grid2">{inside}</div>' if inside else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _tidy(value: float) -> str:
    """Three digits, and 0 for rounding errors."""
    return "0" if abs(value) < 1e-9 else f"{value:.3g}".replace("-", "−")
