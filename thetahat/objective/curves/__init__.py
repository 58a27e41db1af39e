"""Non-linear least squares for functions of the user."""
