"""What happened in a run, for people to read: draws, counts and events."""
