"""Gradient boosting of trees or of any learner, for any loss."""
