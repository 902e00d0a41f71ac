"""guard: authorize an action, wait for people, verify, run it, and report how it ended."""
