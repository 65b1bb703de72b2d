"""The game between a user and an adversary: two matrices and a budget, folded from a profile, a scenario and metrics;
several such games; linear rows on the mechanism; the mechanism itself; budgets in words. Imports ``model``, ``metrics``
and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
