"""Lines are cut into columns, whatever stands in them and however many are read at a time."""

from __future__ import annotations

import pandas as pd
import pytest

from hideseek.errors import TraceError, TraceWarning
from hideseek.traces import columnar, delimited, json_stream, xml_points
from hideseek.traces.reading import Options, each_file, read_traces
from hideseek.traces.sources import source_of
from tests.support.trace_files import CAB, CSV, SAMPLES, put


def test_several_blanks_between_fields_are_read(tmp_path):
    assert (
        len(read_traces(put(tmp_path, "new_a.txt", "37.1  -122.2\t0   1213084687\n 37.1 -122.2 0 1213084688 \n"))) == 2
    )


def test_the_slow_way_reads_what_the_fast_way_reads(tmp_path):
    fast = read_traces(put(tmp_path, "new_a.txt", CAB))
    with pytest.warns(TraceWarning):
        slow = read_traces(put(tmp_path, "new_a.txt", CAB + "one bad line\n"))
    slow.attrs = fast.attrs
    pd.testing.assert_frame_equal(fast, slow)


def tallies(path):
    return [file.tally for file in each_file(source_of(path, "test"), Options())]


@pytest.mark.filterwarnings("ignore::hideseek.traces.TraceWarning")
@pytest.mark.parametrize("size", [1, 50, 200])
@pytest.mark.parametrize(
    "content",
    [
        *SAMPLES.values(),
        CAB * 3 + "\n\nno row\n" + CAB.replace("37", "38") + "95 0 0 5\n\n",
        CSV + 'b,"2020-01-01 10:00:00",46.5,6.5\n"b\nb",2020-01-01,1,2\nb,2020\nb,2020-01-02,x,2\n',
        CSV + 'b,"2020-01-01 10:00:00,46.5,6.5\nb,2020-01-02,1,2\n,2020-01-02,1,2\n' + "a,2020-01-03,4,5\n" * 9,
    ],
)
def test_files_are_read_block_by_block_as_they_are_at_once(tmp_path, monkeypatch, content, size):
    path = put(tmp_path, "new_a.txt", content)
    whole, told = read_traces(path), tallies(path)
    for module in (delimited, xml_points):
        monkeypatch.setattr(module, "BLOCK", size)
    monkeypatch.setattr(json_stream, "PIECE", size)
    monkeypatch.setattr(columnar, "BLOCK", 2)
    for module in (delimited, json_stream, xml_points):
        monkeypatch.setattr(module, "ROWS", 2)
    blocks = read_traces(path)
    assert blocks.attrs["report"] == whole.attrs["report"]
    pd.testing.assert_frame_equal(blocks, whole)
    assert tallies(path) == told


def test_quoted_fields_may_hold_separators(tmp_path):
    text = 'note,uid,datetime,lat,lng\n"home, sweet",a,2020-01-01,1,2\n"two\nlines","b;b",2020-01-01,1,2\n'
    assert read_traces(put(tmp_path, "x.csv", text))["user_id"].tolist() == ["a", "b;b"]


def test_a_line_break_in_a_name_tells_it_from_the_name_without(tmp_path):
    text = 'uid,datetime,lat,lng\n"two\nlines",2020-01-01,1,2\ntwolines,2020-01-01,1,2\n'
    assert read_traces(put(tmp_path, "x.csv", text))["user_id"].tolist() == ["two\nlines", "twolines"]


def test_a_quote_left_open_costs_one_row_and_not_the_rest(tmp_path):
    text = 'uid,datetime,lat,lng\n"a,2020-01-01,1\na,2020-01-02,1,2\na,2020-01-03,1,2\n'
    with pytest.warns(TraceWarning, match=r"1 of 3 rows .* x\.csv, line 2: row must be of as many"):
        assert len(read_traces(put(tmp_path, "x.csv", text))) == 2


def test_a_column_that_is_named_and_not_there_is_told_with_those_that_are(tmp_path):
    path = put(tmp_path, "a.csv", "when,y,x\n2020-01-01T10:00Z,46.5,6.5\n")
    for form in (None, "csv"):
        with pytest.raises(TraceError, match=r"no column 'yy' for latitude; its columns are when, y, x"):
            read_traces(path, columns={"latitude": "yy"}, format=form)
