"""How Sphinx makes the site: the README, the pages of this folder, and a reference from the docstrings."""

from __future__ import annotations

import re
from importlib.metadata import version as installed
from inspect import ismodule

import hideseek

OFFERED = [name for name in hideseek.__all__ if not ismodule(getattr(hideseek, name))]
ARRAY_LIKE = re.compile(r"[\w.~]*_Buffer \| .*?_NestedSequence\[[^\[]*?complex \| bytes \| str\]")
ARRAY = re.compile(r"ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?(?:numpy\.)?dtype\[~?(?:numpy\.)?(\w+)\]\]")

project, author, copyright = "hideseek", "The hideseek team", "The hideseek team"  # noqa: A001 (Sphinx's own word)
version = release = installed("hideseek")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
templates_path = ["_templates"]
html_theme, html_title = "furo", "hideseek"
html_copy_source = False
fonts = {"font-stack": "system-ui, sans-serif", "font-stack--monospace": "ui-monospace, monospace"}
html_theme_options = {"light_css_variables": fonts, "dark_css_variables": fonts}
myst_heading_anchors = 3  # such as theory.md#assumptions
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autosummary_context = {
    "also_here": {
        f"hideseek.{room}": [name for name in OFFERED if hasattr(getattr(hideseek, room), name)]
        for room in set(hideseek.__all__).difference(OFFERED)
    }
}
napoleon_google_docstring = False
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True


def from_the_root(app, path, parent, text):
    """Links of README and CONTRIBUTING start at the root of the repository, and the pages lie elsewhere here."""
    for link, page in (("docs/", ""), ("CONTRIBUTING.md", "contributing.md"), ("CITATION.cff", "../CITATION.cff")):
        text[0] = text[0].replace(f"]({link}", f"]({page}")


def explained_once(app, kind, name, value, skip, options):
    """What ``hideseek`` itself offers is explained on its page, and not again in the room that it comes from."""
    twice = name in OFFERED and value is getattr(hideseek, name)
    return True if twice and app.env.current_document.docname != "reference/hideseek" else skip


def short_arrays(app, kind, name, value, options, arguments, returned):
    """Arrays by what they hold, ``ndarray[float64]``, and what becomes one as ``ArrayLike``."""
    return tuple(
        text and ARRAY_LIKE.sub("ArrayLike", ARRAY.sub(r"ndarray[\1]", text)) for text in (arguments, returned)
    )


def plain_sentences(app, kind, name, value, options, lines):
    """Of a property, napoleon takes what stands before a colon for its type; an empty comment stops it."""
    if kind in ("attribute", "property"):
        lines[:0] = ["..", ""]


def setup(app):
    """Called by Sphinx."""
    app.connect("include-read", from_the_root)
    app.connect("autodoc-skip-member", explained_once)
    app.connect("autodoc-process-signature", short_arrays)
    app.connect("autodoc-process-docstring", plain_sentences, priority=100)  # before napoleon
