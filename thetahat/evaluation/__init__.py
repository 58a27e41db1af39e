"""How sure: intervals, tests, evaluation and comparison of models."""
