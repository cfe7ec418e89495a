"""Delivery of new events to the subscriptions of one process."""
