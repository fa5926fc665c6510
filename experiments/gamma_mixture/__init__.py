"""Section 5.1 of the paper: the bias of exchanging in real time, and its removal."""
