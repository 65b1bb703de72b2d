"""From a profile to a codebook: the layout of its stages, a game for every history, the stages in the making, and the
deployed run that is certified. Imports ``codebook``, ``planning``, ``solvers`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
