"""State of one redaction, which loads the patterns of secrets when a text needs them."""

from seamwise.redaction.prefilter import may_contain_secret
from seamwise.redaction.settings import Settings


class Redactor:
    """State of one redaction: its settings and the number of masked places."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.masked = 0

    def text(self, text: str) -> str:
        """Mask every secret in a text, including JSON that is encoded several times.

        >>> Redactor(Settings()).text('GET https://ann:hunter2@example.org/?token=abc&page=2')
        'GET https://***@example.org/?token=***&page=2'
        """
        if not may_contain_secret(text, self.settings):
            return text
        # Compiling the patterns takes longer than all other imports; most texts need none of them.
        from seamwise.redaction.engine import mask_secrets  # noqa: PLC0415

        redacted, masked = mask_secrets(text, self.settings)
        self.masked += masked
        return redacted

    def is_sensitive(self, name: str) -> bool:
        """Return whether the value of a name is secret."""
        return self.settings.is_sensitive(name)

    def mask(self) -> None:
        """Count a masked place outside of texts."""
        self.masked += 1
