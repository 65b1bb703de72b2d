"""How work that takes long reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Advance = Callable[[str, int, int], None]  # what is being done, how much is done, and of how much
