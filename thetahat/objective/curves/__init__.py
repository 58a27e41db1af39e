"""Non-linear least squares for user-defined functions."""
