"""Pages of maps, read as a browser reads them."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hideseek import MarkovProfile, Places
from hideseek.maps import map_page

VOID = {"meta", "br"}
TWO = MarkovProfile.from_matrix(
    [[0.9, 0.1], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58], names=("home", "work")), step="10min"
)


class Page(HTMLParser):
    """The elements of a page with their attributes, the words that are seen, and the data of its script."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.inside, self.raw = [], [], [], {}
        self.feed(text)
        self.close()
        assert not self.inside, "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.inside.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_data(self, data):
        if self.inside and self.inside[-1] in ("script", "style"):
            self.raw.setdefault(self.inside[-1], []).append(data)
        elif data.strip():
            self.words.append(data.strip())

    @property
    def scene(self):
        """The data of the script."""
        return json.loads(self.raw["script"][0])

    @property
    def policy(self):
        """The page's rules: which sources it may load what from."""
        (meta,) = [attributes for tag, attributes in self.elements if "http-equiv" in attributes]
        assert meta["http-equiv"] == "Content-Security-Policy"
        return {name: sources for name, *sources in (rule.split() for rule in meta["content"].split(";"))}

    @property
    def outline(self):
        """All but the script and the style: elements with the names of their attributes, words, data."""
        elements = [[tag, sorted(attributes)] for tag, attributes in self.elements]
        return {"elements": elements, "words": self.words, "scene": self.scene}


if __name__ == "__main__":
    print(json.dumps(Page(map_page(TWO)).outline, indent=1))
