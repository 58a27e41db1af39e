"""Linear models: f(x) = xᵀβ + b under any loss and penalty."""
