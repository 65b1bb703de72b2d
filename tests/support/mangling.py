"""Files with a few bytes changed, so that a fuzz reaches past the first check of a parser."""

from __future__ import annotations

import random

from hypothesis import strategies as st

TOKENS = [
    b"",
    b"\0",
    b"\xff",
    b"-",
    b"1e999",
    b"nan",
    b"<",
    b"</",
    b">",
    b'"',
    b"&",
    b"&#0;",
    b"]]>",
    b"\x80\x80\x80\x01",
]


def mangled(*samples: bytes) -> st.SearchStrategy[bytes]:
    """One of the samples, mangled by a seed; hypothesis shrinks towards few changes."""
    seeds = st.tuples(st.sampled_from(samples), st.integers(0, 8), st.integers(0, 2**32))
    return seeds.map(lambda chosen: mangle(*chosen))


def mangle(sample: bytes, changes: int, seed: int) -> bytes:
    """Flip, drop, repeat and replace pieces."""
    generator = random.Random(seed)
    data = bytearray(sample)
    for _ in range(changes):
        at, length = generator.randrange(len(data) + 1), generator.choice((1, 1, 1, 2, 4, 8, 64))
        match generator.randrange(6):
            case 0 | 1 if at < len(data):
                data[at] ^= 1 << generator.randrange(8)
            case 2:
                data[at : at + length] = generator.randbytes(length)
            case 3:
                del data[at : at + length]
            case 4:
                data[at:at] = data[at : at + length] * generator.choice((1, 2, 100))
            case _:
                data[at : at + generator.choice((0, length))] = generator.choice(TOKENS)
    return bytes(data)
