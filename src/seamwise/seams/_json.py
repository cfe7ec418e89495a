"""What JSON can say, as a type."""

from typing import TypeAlias

Json: TypeAlias = 'str | float | bool | list[Json] | dict[str, Json] | None'
