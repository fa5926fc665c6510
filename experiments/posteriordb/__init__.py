"""Models of posteriordb, written for NumPyro, against its reference draws."""
