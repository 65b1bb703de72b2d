"""What runs online: one answer per step, persisted before it is released; by a codebook, which needs no solver, or live
by a plan. The codebook device imports ``codebook`` and below only; the live device also ``planning``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
