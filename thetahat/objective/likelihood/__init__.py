"""Information at the maximum of a likelihood, and separation, where it has no maximum."""
