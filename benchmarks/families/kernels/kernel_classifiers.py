"""Kernel models of two classes for many rows, beside exact models of fewer rows."""

from __future__ import annotations

from benchmarks.families.kernels.kernel_regressors import many_rows
from benchmarks.harness import Case

CASES: tuple[Case, ...] = ()

STUDIES = (many_rows(("logistic", "hinge")),)
