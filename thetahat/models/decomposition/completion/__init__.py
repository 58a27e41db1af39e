"""Matrix completion: the missing entries of a matrix from a few factors of its rows and columns."""
