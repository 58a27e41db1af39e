"""Display of trees as plots, text and regions."""
