"""One file per command, which adds its options and runs it. Heavy imports happen at run time."""
