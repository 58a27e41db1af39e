"""Decisions under uncertainty: Bayes' rule on tables and grids, decision rules and their errors."""
