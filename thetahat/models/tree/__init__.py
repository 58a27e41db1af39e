"""Decision trees: growing, structure, pruning and display."""
