"""The check: its corpus, its pages, and what it stands on."""
