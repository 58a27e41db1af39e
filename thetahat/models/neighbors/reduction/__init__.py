"""Classifiers by the nearest of few rows: condensed, edited, and prototypes."""
