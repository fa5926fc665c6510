"""Section 5.2 of the paper: the bias and its removal in likelihood-free inference."""
