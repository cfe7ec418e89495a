"""How far a code base is on its way from exceptions to channels, and what would change first."""
