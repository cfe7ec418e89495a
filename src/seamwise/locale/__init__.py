"""Message catalogs of gettext, and the extraction of their texts for Babel."""
