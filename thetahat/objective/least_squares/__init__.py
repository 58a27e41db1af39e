"""Squared loss with an L2 penalty: direct and iterative solutions, leave-one-out, evidence."""
