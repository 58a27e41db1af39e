"""Mergeable summaries of rows: moments, counts, quantiles."""
