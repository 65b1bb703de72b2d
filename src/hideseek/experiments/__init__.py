"""Everything for a person (``protection``), and whole studies: rivals at equal loss (``comparison``), planners side by
side (``planner_study``), the paper's evaluation repeated (``reproduction``); and the pages that show them. Imports
everything but ``fleet`` and ``cli``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
