"""Learning from rows of which only some have labels."""
