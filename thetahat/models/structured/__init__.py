"""Models of structured outputs, such as sequences of labels."""
