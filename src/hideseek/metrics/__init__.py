"""What an adversary's error is worth, and what a wrong release costs: d_p and d_q.

A metric compares vectors of places: ``between(left, right, seen)`` is a matrix with a row for each vector of ``left``
and a column for each of ``right``. For privacy, left are the guesses and right the truths; for quality, left are the
truths, right the releases, and ``seen`` the releases before them. Metrics are built by combination:

    total(sensitive(distance(regions), {hospital: 5}))    metres, five times as many at the hospital, added over time

Imports ``model`` and ``util``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
