"""The state machine: completions in, moves out. All of the anytime logic is here."""
