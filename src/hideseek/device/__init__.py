"""Devices, which run online: one answer per step, persisted before it is released. The codebook device draws from
stored tables and imports ``codebook`` and below, no solver, and of other packages lazy_loader, msgspec, numpy and
safetensors; the live device solves a game at every access and imports ``planning`` too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
