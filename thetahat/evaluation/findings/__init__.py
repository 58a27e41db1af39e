"""What a look at the rows finds before a model is fitted: one file per kind of finding."""
