"""Records of failures: the log, the operation and request they belong to, and their fingerprint."""
