"""The texts in other languages: gettext catalogues, and what extracts and compiles them (`python -m seamwise.locale`)."""
