"""From a game to the best mechanism with its proof: one dispatch, several methods, and a certificate that trusts none
of them. Imports ``game`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
