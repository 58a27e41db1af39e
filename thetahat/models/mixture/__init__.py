"""Mixture models: p(x) = Σ_k π_k p_k(x)."""
