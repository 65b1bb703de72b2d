"""All users of a data set at once: the same job for each, on this machine or on a cluster; a killed run continues where
it stopped. Imports ``designing``, ``adversary`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
