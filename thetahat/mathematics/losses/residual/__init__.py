"""Losses of the residual r = z − y."""
