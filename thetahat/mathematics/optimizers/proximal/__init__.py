"""Methods for a smooth part plus a part with a proximal step, and subgradients."""
