"""One file per command; each adds its options and runs. Heavy imports happen when it runs."""
