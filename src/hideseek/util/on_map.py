"""What can be shown on a map: the one door from results to :mod:`hideseek.maps`, which is loaded when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hideseek.util.boundary import checked

if TYPE_CHECKING:
    import pandas as pd

    from hideseek.maps.page import MapPage


@checked
class OnMap:
    """A result that is about places."""

    def map(self, *, tracks: pd.DataFrame | None = None, tiles: str | None = None) -> MapPage:
        """Show it on a map: a page that works without a network, for a notebook or a file.

        Parameters
        ----------
        tracks : pandas.DataFrame, optional
            Traces to draw under the places.
        tiles : str, optional
            The address of images of a background map, with {z}, {x} and {y}; by default none, and no request is made.

        Returns
        -------
        MapPage
            The page, which reveals where a person goes; see its ``save``.
        """
        return mapped(self, tracks=tracks, tiles=tiles)


def mapped(thing: object, **options: object) -> MapPage:
    """The page of a thing: see :func:`hideseek.maps.map_page`."""
    from hideseek.maps.page import MapPage, map_page

    page: MapPage = MapPage(map_page(thing, **options))  # type: ignore[arg-type]
    return page
