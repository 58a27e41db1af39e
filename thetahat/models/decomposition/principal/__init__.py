"""Principal components, truncated singular values, and random projections."""
