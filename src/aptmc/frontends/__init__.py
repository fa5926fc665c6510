"""Models of other languages as problems; each is an extra, and its library is loaded when used."""
