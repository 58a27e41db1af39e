"""Directions of X and y that vary together: partial least squares and its relatives."""
