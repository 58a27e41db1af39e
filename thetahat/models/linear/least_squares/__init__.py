"""Least squares and ridge regression in all their forms."""
