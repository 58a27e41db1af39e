"""Latent factors: factor analysis, non-negative factors and independent components."""
