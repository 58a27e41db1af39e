"""Columns of a table: kinds, labels, missing values."""
