"""Maps as one HTML page that needs no network: ``projection`` and ``tracks`` are geometry, ``releases`` what a codebook
or a plan releases where, ``scenes`` what the page shows, ``page`` the page itself. Imports ``adversary`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
