"""The objective Σ wᵢ ℓ(yᵢ, f_θ(xᵢ)) / Σ wᵢ + R(θ), summed over the rows of a source."""
