"""An API that keeps an older contract for its clients."""
