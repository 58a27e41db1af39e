"""Regression that is robust to outliers: Huber, other robust losses, quantiles."""
