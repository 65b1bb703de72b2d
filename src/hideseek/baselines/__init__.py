"""Mechanisms that others have proposed, each a table (or a policy) that the same adversaries attack, and ``RIVALS``,
the list of those that are compared. Imports ``solvers``, ``game`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
