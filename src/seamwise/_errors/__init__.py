"""Tagged errors: their classes, categories, causes, messages and wire form. Rooms above use it."""
