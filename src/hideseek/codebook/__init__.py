"""What a device stores: tables of whole weights, the stages that they belong to, and the codebook with its claims.
Loading, verifying and drawing need numpy alone; the joint distribution of true and exposed places, which designs and
adversaries follow, also scipy. Imports ``storage``, ``model`` and below, and no solver.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
