"""How results show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Mapping

from hideseek.util.harmless import visible


def html_table(title: str, facts: Mapping[str, object]) -> str:
    """A small table for ``_repr_html_``: a caption, and a row for each named fact.

    Names and values may come from anybody (user ids, names of places), so they are escaped.

    Parameters
    ----------
    title : str
        What the result is.
    facts : mapping from str to object
        What is known about it, in the order of the rows; values are shown as ``str`` gives them.

    Returns
    -------
    str
        One HTML ``<table>``.

    Examples
    --------
    >>> print(html_table("Solution", {"privacy": 0.5, "user": "<b>"}))
    <table>
    <caption>Solution</caption>
    <tr><th scope="row">privacy</th><td>0.5</td></tr>
    <tr><th scope="row">user</th><td>&lt;b&gt;</td></tr>
    </table>
    """
    rows = [f'<tr><th scope="row">{shown(name)}</th><td>{shown(value)}</td></tr>' for name, value in facts.items()]
    return "\n".join(["<table>", f"<caption>{shown(title)}</caption>", *rows, "</table>"])


def bracketed(words: str, more: str) -> str:
    """Words with more in brackets behind them, such as a unit; without brackets where there is no more.

    >>> bracketed("privacy", "m"), bracketed("privacy", "")
    ('privacy (m)', 'privacy')
    """
    return f"{words} ({more})" if more else words


def counted(number: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "user"), counted(2, "user")
    ('1 user', '2 users')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def shown(value: object) -> str:
    """A value as text that commands neither a browser nor the order of reading."""
    from html import escape  # here, so that a device starts without it

    return escape(visible(str(value)))
