"""Whole studies: rivals at equal loss, the paper's evaluation made again, planners side by side, the demo; and the
pages that show them. Imports everything but ``fleet`` and ``cli``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
