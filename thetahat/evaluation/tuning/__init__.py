"""Tune models within a time limit, and evaluate them so that the tuning does not flatter."""
