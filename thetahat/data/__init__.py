"""Where the rows are, and one way to run over them."""
