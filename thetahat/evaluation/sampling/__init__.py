"""Intervals and tests from the contributions of single rows, groups of rows or blocks of time."""
