"""A codebook on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.saved_codebooks import with_gaps


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "book.hideseek"
    with_gaps().save(path)
    return path
