"""Decision trees: one engine that grows them, one structure that holds them."""
