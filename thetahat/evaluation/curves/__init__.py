"""Curves with bands: over thresholds, over rows, over parameters."""
