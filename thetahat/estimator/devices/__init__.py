"""How estimators take tensors: which methods run on a device, and where a model is."""
