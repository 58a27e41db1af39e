"""Histograms as density estimates."""
