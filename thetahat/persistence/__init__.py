"""Save models to files that contain data and no code."""
