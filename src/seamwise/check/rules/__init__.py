"""Rules of `seamwise check`, one module each, with their documentation pages."""
