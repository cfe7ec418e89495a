"""What a model can do next about each error: one or two sentences with the values that matter, one file a union."""
