"""Event log in Redis Streams, for any number of processes and machines."""
