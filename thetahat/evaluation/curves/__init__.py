"""Curves with confidence bands: over thresholds, training rows, parameters and stages."""
