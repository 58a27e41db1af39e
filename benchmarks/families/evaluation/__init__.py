"""Scores, intervals, and the choice of models: one file per family."""
