"""Does likelihood-free inference converge to the likelihood's posterior? MA(2), which has both."""
