"""One HTML page that stands alone: text, tables and figures in a single file, readable offline."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as without_tags
from typing import TYPE_CHECKING

from hideseek.util.harmless import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="hideseek">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font: 16px/1.55 system-ui, sans-serif; color: #1b1f24; background: #fff; margin: 0 auto; max-width: 62rem;
  padding: 2rem 1.25rem 4rem; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }}
h2 {{ font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-top: 1px solid #d0d7de; padding-top: 1.25rem; }}
p.lead {{ font-size: 1.1rem; color: #424a53; max-width: 46rem; }}
p {{ max-width: 46rem; }}
figure {{ margin: 1rem 0; }}
figure img {{ max-width: 100%; height: auto; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }}
th, td {{ padding: .35rem .9rem; text-align: right; border-bottom: 1px solid #d8dee4; vertical-align: top; }}
th {{ font-weight: 600; background: #f6f8fa; }}
th.words, td.words {{ text-align: left; }}
td.PASS, td.FAIL {{ font-weight: 700; color: #fff; background: #1a7f37; }}
td.FAIL {{ background: #cf222e; }}
@media (max-width: 600px) {{ table {{ font-size: .8rem; }} th, td {{ padding: .3rem .25rem; }} }}
th button {{ all: unset; cursor: pointer; font-weight: 600; }}
th button:focus-visible {{ outline: 2px solid #0969da; }}
th[aria-sort="ascending"] button::after {{ content: " ▲"; }}
th[aria-sort="descending"] button::after {{ content: " ▼"; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p class="lead">{lead}</p>
{sections}{script}
</body>
</html>
"""

# numbers by size, with cells without one last; other words by the alphabet
SORTING = """
<script>
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") === "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const cell = (row) => row.cells[column].textContent, number = (row) => parseFloat(cell(row));
    const numbers = [...body.rows].some((row) => !isNaN(number(row)));
    const before = (a, b) => numbers ? number(a) - number(b) : cell(b).localeCompare(cell(a));
    const last = (row) => numbers && isNaN(number(row));
    body.append(...[...body.rows].sort((a, b) => last(a) - last(b) || (up ? before(a, b) : before(b, a)) || 0));
  }));
}
</script>"""


@dataclass(frozen=True)
class Table:
    """A header and rows of text; the first columns hold ``words``, the others numbers; a reader may sort it."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    sortable: bool = False


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, and what illustrates it; a figure comes with the words that describe it.

    ``markup`` is put on the page as it is: whoever makes it escapes the words in it.
    """

    heading: str
    text: str
    table: Table | None = None
    figures: Sequence[tuple[Figure, str]] = ()
    markup: str = ""


def escape(text: str) -> str:
    """Text for a page, in which nothing is a tag or turns the way of reading."""
    return without_tags(visible(text))


def html_report(title: str, lead: str, sections: Iterable[Section]) -> str:
    """The page.

    >>> "&lt;home&gt;" in html_report("<home>", "", [])
    True
    """
    every = list(sections)
    body = "\n".join(section_html(section) for section in every)
    script = SORTING if any(section.table is not None and section.table.sortable for section in every) else ""
    return PAGE.format(title=escape(title), lead=escape(lead), sections=body, script=script)


def classes(cell: str, words: bool) -> str:
    """How a cell looks: words stand on the left, and a verdict is seen from afar."""
    names = ["words"] * words + [verdict for verdict in ("PASS", "FAIL") if cell == verdict]
    return f' class="{" ".join(names)}"' if names else ""


def inner(cell: str, tag: str, table: Table) -> str:
    """What a cell holds; a head that sorts is a button, for the keyboard too."""
    return f'<button type="button">{cell}</button>' if tag == "th" and table.sortable else cell


def section_html(section: Section) -> str:
    """One section; every word in it is escaped, but for its markup."""
    parts = [f"<h2>{escape(section.heading)}</h2>", f"<p>{escape(section.text)}</p>", section.markup]
    if section.table is not None:
        header, *rows = (
            "".join(
                f"<{tag}{classes(cell, column < section.table.words)}>{inner(escape(cell), tag, section.table)}</{tag}>"
                for column, cell in enumerate(row)
            )
            for tag, row in (("th", section.table.header), *(("td", row) for row in section.table.rows))
        )
        body, kind = "".join(f"<tr>{row}</tr>" for row in rows), ' class="sortable"' * section.table.sortable
        table = f"<table{kind}><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
        parts.append(f'<div class="wide">{table}</div>')
    for figure, words in section.figures:
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
        image = base64.b64encode(stream.getvalue()).decode("ascii")
        parts.append(f'<figure><img alt="{escape(words)}" src="data:image/svg+xml;base64,{image}"></figure>')
    return "\n".join(filter(None, parts))
