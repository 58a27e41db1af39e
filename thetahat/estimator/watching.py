"""Progress, time limits and Ctrl-C for iterative fits, through scikit-learn's callbacks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeVar

import sklearn.callback
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution

WARNED_OF = (Outcome.STEPS_EXHAUSTED, Outcome.STUCK, Outcome.DIVERGED, Outcome.OUT_OF_TIME)
STEP_SIZES = ("eta0", "learning_rate_init", "learning_rate")
"""Parameters that set the length of the steps; the first one that an estimator has counts."""
OPENED = {
    "estimator_",
    "n_features_in_",
    "feature_names_in_",
    "classes_",
    "n_classes_",
    "n_outputs_",
}
"""Fitted attributes that are set before anything is learned from the rows."""

Method = TypeVar("Method", bound=Callable[..., Any])
_fit: ContextVar[tuple[Any, list[Callable[[], Any]]] | None] = ContextVar("_fit", default=None)
"""The estimator whose `fit` is running, and what is called when its attributes are set."""


def with_callbacks(fit: Method) -> Method:
    """scikit-learn's decorator of the same name for a `fit` that runs inside `_watching`.

    The last callback of a fit is called after the fitted attributes are set, so that an interrupt
    raised there does not lose them.
    """

    @wraps(fit)
    def watched(self: Any, *args: Any, **params: Any) -> Any:
        ends: list[Callable[[], Any]] = []
        before, is_whole = _fit.set((self, ends)), False
        try:
            made = fit(self, *args, **params)
            is_whole = True
            return made
        finally:
            _fit.reset(before)
            try:
                for end in ends:
                    end()
            except KeyboardInterrupt as interrupt:
                if is_whole:
                    keep_so_far(self, interrupt)
                raise

    return sklearn.callback.with_callbacks(watched)


class Watched(CallbackSupportMixin):
    """An estimator whose iterative fit reports every iteration to ``set_callbacks(...)``.

    ``fit`` is decorated with scikit-learn's ``with_callbacks`` and runs its solver inside
    `_watching`.
    """

    solution_: Solution

    @contextmanager
    def _watching(
        self, max_steps: int | None, attributes: Callable[[Any], dict[str, Any]], X: Any, y: Any
    ) -> Iterator[Watch]:
        """A `Watch` that reports each step to the callbacks; `attributes(θ)` rebuilds the model.

        On Ctrl-C the best parameters so far, which the exception carries, are stored first.
        """
        context: Any = None
        if getattr(self, "_skl_callbacks", None):
            # Stored on the model, so that only fits with callbacks exclude each other.
            context = self._init_callback_context(max_subtasks=max_steps)
            context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def on_step(step: int, theta: Any, value: float) -> bool:
            inner = context.subcontext(task_name="step")
            inner.call_on_fit_task_begin(estimator=self, X=X, y=y)
            return bool(
                inner.call_on_fit_task_end(
                    estimator=self,
                    X=X,
                    y=y,
                    reconstruction_attributes=attributes(theta),
                )
            )

        try:
            yield Watch(
                on_step=None if context is None else on_step,
                report=_report(self),
            )
        except KeyboardInterrupt as interrupt:
            solution = getattr(interrupt, "solution", None)
            if solution is not None:
                keep_so_far(self, interrupt, **attributes(solution.theta), solution_=solution)
            raise
        finally:
            if context is not None:
                end = partial(context.call_on_fit_task_end, estimator=self, X=X, y=y)
                running = _fit.get()
                if running is not None and running[0] is self:
                    running[1].append(end)
                else:
                    end()

    def _warn_unless_converged(self) -> None:
        """Warn if an iterative fit stopped early, with the remaining gap and a remedy."""
        solution = self.solution_
        if solution.outcome in WARNED_OF:
            warn(
                f"{type(self).__name__}: {solution.outcome.value} ({solution.solver}, "
                f"{solution.steps} {'iteration' if solution.steps == 1 else 'iterations'}, "
                f"{_gap(solution)}). {_remedy(solution.outcome, self.get_params(deep=False))}",
                ConvergenceWarning,
            )


def _report(model: Any) -> Callable[[int, float], None] | None:
    """With ``verbose``, what prints the iterations: one per second, or all if it is above 1."""
    verbose, who = getattr(model, "verbose", 0), type(model).__name__
    if not verbose or model._prints_itself:
        return None
    started = last = time.monotonic()

    def report(step: int, value: float) -> None:
        nonlocal last
        now = time.monotonic()
        if verbose > 1 or now - last >= 1.0:
            objective = f", objective {value:.6g}" if math.isfinite(value) else ""
            print(f"[{who}] iteration {step}{objective}, {now - started:.1f} s", flush=True)
            last = now

    return report


class WatchedSolver(Watched):
    """A `Watched` estimator that is fitted by one run of a solver.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of iterations of the solver. Raise it if the fit warns that it did not
        converge.

    Attributes
    ----------
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.
    n_iter_ : int
        Number of iterations that the solver ran.
    """

    n_iter_: Any


def _gap(solution: Solution) -> str:
    """The remaining gap with its kind, for a message."""
    if math.isfinite(solution.gap):
        return f"{solution.gap_kind} {solution.gap:.2g}"
    return f"{solution.gap_kind} not known"


def _remedy(outcome: Outcome, parameters: Collection[str]) -> str:
    """What to do, by the parameters that the estimator has."""
    others = ["use another solver"] if "solver" in parameters else []
    if outcome is Outcome.DIVERGED:
        rate = next((name for name in STEP_SIZES if name in parameters), None)
        smaller = [] if rate is None else [f"lower {rate}"]
        return "The loss overflowed or is not defined: " + _either(
            ["scale the columns and the target", *smaller, *others]
        )
    if outcome is Outcome.STUCK:
        return _sentence(["scale the columns", *others])
    raised = [name for name in ("max_iter", "tol") if name in parameters]
    if outcome is Outcome.OUT_OF_TIME:
        raised = ["th.config(max_time=...)", *(name for name in raised if name == "tol")]
    more = [f"raise {' or '.join(raised)}"] if raised else []
    return _sentence([*more, "scale the columns", *others])


def _sentence(ways: list[str]) -> str:
    text = _either(ways)
    return text[0].upper() + text[1:]


def _either(ways: list[str]) -> str:
    """The ways as "a.", "a, or b." or "a, b, or c."."""
    *first, last = ways
    return f"{', '.join(first)}, or {last}." if first else f"{last}."


def warn_of_time(model: Any) -> None:
    """Warn that th.config(max_time=...) has ended passes over the rows before the last of them."""
    warn(
        f"{type(model).__name__}: out of time: the best parameters so far are kept "
        f"({model.n_iter_} {'pass' if model.n_iter_ == 1 else 'passes'} over the rows). Raise "
        "th.config(max_time=...).",
        ConvergenceWarning,
    )


def keep_so_far(model: Any, interrupt: KeyboardInterrupt, **attributes: Any) -> None:
    """Store a model that can be used although its fit was interrupted, and note that it is."""
    model.__dict__.update(attributes)
    interrupt.__dict__.setdefault("kept", set()).add(id(model))


def is_kept(model: Any, failure: BaseException) -> bool:
    """Whether the failure is an interrupt for which the model of the parameters so far is stored.

    Attributes that a fit sets on its way are no such model.
    """
    cause: BaseException | None = failure
    while cause is not None:  # a second interrupt may have come while the first one was handled
        if id(model) in getattr(cause, "kept", ()):
            return True
        cause = cause.__context__
    return False


def is_stale(model: Any, name: str, before: Any) -> bool:
    """Whether a fitted attribute that holds more than a number is still that of an earlier fit."""
    fitted = name.endswith("_") and not name.startswith("_") and name not in OPENED
    plain = isinstance(before, int | float | str | None)
    return fitted and not plain and model.__dict__.get(name) is before
