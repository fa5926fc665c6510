"""What all backends with workers share: the loop, what travels, and how much at a time."""
