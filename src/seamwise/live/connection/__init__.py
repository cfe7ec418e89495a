"""Parts of the client: address, frames, losses and the WebSocket itself."""
