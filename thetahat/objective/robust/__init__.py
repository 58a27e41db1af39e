"""Residual scales and starting points of robust regression."""
