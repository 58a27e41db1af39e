"""Regression that outliers do not decide: Huber, any robust loss, quantiles."""
