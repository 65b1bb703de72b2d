"""A codebook on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.saved_codebooks import made


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "book.hideseek"
    made().save(path)
    return path
