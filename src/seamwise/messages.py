"""Messages of errors in the languages of their readers, and the catalogs that contain them."""

from seamwise._errors.texts import add_locales, catalogue, public_message

__all__ = ['add_locales', 'catalogue', 'public_message']
