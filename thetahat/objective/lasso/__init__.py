"""Least squares under L1 and L2 penalties: problems, paths, folds."""
