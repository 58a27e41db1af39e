"""Methods for smooth objectives: gradients, Newton, quasi-Newton."""
