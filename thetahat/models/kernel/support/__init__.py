"""Support vector machines: kernel functions whose coefficients are mostly 0."""
