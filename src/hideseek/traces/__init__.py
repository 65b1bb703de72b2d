"""Who was where and when: the formats that people have, the table they become, one user at a time from a large data
set, and a synthetic city for when there is no data. Imports ``util``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
