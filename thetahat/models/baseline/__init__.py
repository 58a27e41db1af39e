"""Models that do not look at X: what every other model has to beat."""
