"""Section 5.3 of the paper: predators and prey, in virtual time with Gillespie events as work."""
