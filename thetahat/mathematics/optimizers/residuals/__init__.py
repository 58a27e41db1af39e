"""Non-linear least squares: Gauss-Newton, Levenberg-Marquardt, trust region."""
