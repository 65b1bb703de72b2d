from .page import MapPage as MapPage
from .page import map_page as map_page

__all__ = ["MapPage", "map_page"]
