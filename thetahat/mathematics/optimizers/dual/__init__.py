"""Methods on the dual: augmented Lagrangian and dual coordinate ascent."""
