"""Methods for a smooth part plus a part with a proximal operator, and subgradient methods."""
