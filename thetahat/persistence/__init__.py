"""Models as files that hold data and no code."""
