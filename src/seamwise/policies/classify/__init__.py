"""Classifiers for `refine`: turn exceptions of httpx, redis-py, SQLAlchemy and gRPC into errors."""
