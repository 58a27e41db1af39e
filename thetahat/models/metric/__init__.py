"""Metric learning: linear maps that bring similar rows together and others apart."""
