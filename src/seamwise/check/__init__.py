"""What a plain type checker lets through: the mypy plugin, the channel reader, the rules, the map."""
