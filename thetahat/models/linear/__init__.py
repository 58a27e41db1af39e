"""Linear models: f(x) = xᵀβ + b with any loss and penalty."""
