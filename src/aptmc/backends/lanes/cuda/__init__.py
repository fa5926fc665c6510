"""Lanes on a GPU: C code made of the user's functions, compiled by CUDA when a run begins."""
