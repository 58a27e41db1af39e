"""Models of outputs with parts: sequences of labels and the like."""
