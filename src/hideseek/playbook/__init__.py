"""Playbooks: tables made for beliefs that were reached in rehearsal, and how one is chosen and mixed into the budget at
the belief of the moment. Imports ``codebook`` and below: no solver, no scipy, no pandas.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
