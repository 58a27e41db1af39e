"""Combinations of different models: voting, stacking, linear combinations."""
