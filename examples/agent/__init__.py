"""A small agent: a model, three tools, and the conversation between them."""
