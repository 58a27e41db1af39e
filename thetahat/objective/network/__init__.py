"""Networks as predictors: layers, their passes, and descent on batches of rows."""
