"""Embeddings: points in few dimensions that keep the distances or neighbours of the rows."""
