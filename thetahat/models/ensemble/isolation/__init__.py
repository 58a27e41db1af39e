"""Isolation forests: outliers are rows that few random splits separate from the others."""
