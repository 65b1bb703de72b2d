"""Codebooks as figures."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import (
    ParameterError,
)
from tests.support.saved_codebooks import made


def test_a_figure_has_a_bar_for_every_stage():
    codebook = made()
    axes = codebook.plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [codebook.occasion(number) for number in range(len(codebook.stages))]
    privacy = [float(worth.weight @ worth.privacy) for worth in codebook.worths()]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], privacy)
    assert codebook.plot(axes) is axes
    with pytest.raises(ParameterError, match=r"'ax' parameter of Codebook\.plot must be matplotlib axes"):
        codebook.plot("axes")
