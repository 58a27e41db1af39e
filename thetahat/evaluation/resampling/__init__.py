"""The bootstrap, and bias against variance."""
