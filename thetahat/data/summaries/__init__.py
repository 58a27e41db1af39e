"""Summaries of rows that merge: moments, counts, quantiles."""
