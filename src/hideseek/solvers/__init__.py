"""From a game to the best mechanism with its proof. ``dispatch`` chooses the method; each method makes a ``claim``;
``repair`` turns it into something that can be proved; ``certificate`` checks that and proves it, trusting none of the
others. Beside them the tie-break, the worst case and the privacy-quality curve. Imports ``game`` and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
