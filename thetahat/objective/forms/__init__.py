"""Other forms of the empirical risk, for the methods that need them."""
