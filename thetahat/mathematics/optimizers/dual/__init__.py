"""Methods for the dual problem: augmented Lagrangian and dual coordinate ascent."""
