"""Mechanisms that plan ahead: the game at a belief, planners with their cuts and proofs, training, players, simulation
and plan files. Imports ``solvers``, ``storage`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
