"""The gateway: live sessions over server-sent events and WebSockets."""
