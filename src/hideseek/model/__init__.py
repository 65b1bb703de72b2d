"""A person on a map: regions, how the person moves between them, and the scenario of what is protected when.
Imports ``traces`` (to learn from) and ``util``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
