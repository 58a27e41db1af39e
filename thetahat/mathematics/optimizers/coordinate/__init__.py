"""Some coordinates at a time: coordinate descent, working sets, alternating minimisation."""
