"""Hierarchies of clusters: merged from below, or divided from above."""
