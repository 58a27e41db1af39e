"""How far to step: step rules and line search."""
