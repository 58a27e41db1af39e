"""Probability models of rows: one file per family."""
