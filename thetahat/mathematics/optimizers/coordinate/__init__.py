"""Methods for some coordinates at a time: coordinate descent, working sets, alternation."""
