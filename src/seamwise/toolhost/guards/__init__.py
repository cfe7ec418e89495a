"""Guards around tools, configured by a TOML file."""
