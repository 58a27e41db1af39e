"""Eigenvectors of graphs: the Laplacian of a matrix of edge weights, and its smallest values."""
