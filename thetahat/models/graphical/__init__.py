"""Gaussian graphical models: sparse precision matrices and their Markov graphs."""
