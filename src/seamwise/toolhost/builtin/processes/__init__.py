"""Child processes: shell commands and time-limited regular expressions."""
