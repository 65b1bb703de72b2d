"""Adversaries: against one access, through a whole run as a hidden Markov chain, and the label that says how much
privacy is left. Imports ``codebook``, ``solvers`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
