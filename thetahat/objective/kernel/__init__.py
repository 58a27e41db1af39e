"""Functions f(x) = Σⱼ αⱼ k(x, xⱼ) + b as linear functions of features, and their least squares."""
