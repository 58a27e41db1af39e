"""Clusters, factors and embeddings: one file per family."""
