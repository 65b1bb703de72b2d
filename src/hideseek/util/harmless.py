"""What others wrote (user ids, names of places and files), made harmless where it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001


def visible(text: str) -> str:
    r"""Text in which nothing commands a terminal or turns the direction of reading: such characters are spelled out.

    >>> print(visible("Zürich \x1b[2J"))
    Zürich \x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as a CSV file in which a spreadsheet takes no text for a formula: an apostrophe stands before it.

    >>> import pandas as pd
    >>> print(csv_bytes(pd.DataFrame({"user": ["=1+1"], "loss": [-1.5]})).decode(), end="")
    "user","loss"
    "'=1+1",-1.5
    """
    from csv import QUOTE_NONNUMERIC  # here, so that a device starts without it

    harmless = table.map(harmless_cell).rename(columns=harmless_cell)
    # quoted, since some spreadsheets end a cell at a semicolon
    return harmless.to_csv(index=False, quoting=QUOTE_NONNUMERIC).encode()


def harmless_cell(value: object) -> object:
    """The value of a cell; a number stays one."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.startswith(FORMULA) else visible(value)
