"""Matrix factorisations: rows as combinations of few components."""
