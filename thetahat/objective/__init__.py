"""The one line: Σ wᵢ ℓ(yᵢ, f_θ(xᵢ)) / Σ wᵢ + R(θ), as a reduction over a source."""
