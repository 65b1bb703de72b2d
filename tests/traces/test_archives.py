"""Archives are read as they are distributed, and refused where they are damaged or hostile."""

from __future__ import annotations

import gzip
import tarfile
import zlib

import pytest

from hideseek.errors import TraceError
from hideseek.traces import archives
from hideseek.traces.reading import ReadReport, read_traces
from tests.support.trace_files import CAB, assert_valid, pack, put


@pytest.mark.parametrize("squeeze", [gzip.compress, bytes], ids=["tar.gz", "tar"])
def test_an_archive_is_read_as_distributed_without_its_companions(tmp_path, squeeze):
    link, device = tarfile.TarInfo("cabspottingdata/new_link.txt"), tarfile.TarInfo("cabspottingdata/new_null.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device.type = tarfile.CHRTYPE
    members = {
        "cabspottingdata/README": "Each line is\n37.75134 -122.39488 0 1213084687\n",
        "cabspottingdata/_cabs.txt": '<cab id="abboip" updates="3"/>\n',
        "cabspottingdata/._new_abboip.txt": "resource fork",
        "cabspottingdata/new_abboip.txt": CAB,
        "link": link,
        "device": device,
        "../../new_escape.txt": CAB,
    }
    table = read_traces(put(tmp_path, "cabspottingdata.tar.gz", squeeze(pack(members))))
    assert_valid(table)
    assert sorted(set(table["user_id"])) == ["abboip", "escape"]
    assert table.attrs["report"] == ReadReport(
        files=2, read=6, duplicates=0, skipped=0, told_apart_by="file name", formats={"cabspotting": 2}
    )
    assert [path.name for path in tmp_path.iterdir()] == ["cabspottingdata.tar.gz"]


MEMBERS = {f"cabspottingdata/new_{cab}.txt": CAB * 40 for cab in "abcdef"}


@pytest.mark.parametrize("kept", [0.001, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_archive_is_a_trace_error_and_never_a_shorter_table(tmp_path, kept):
    plain = pack(MEMBERS).rstrip(b"\0")
    for whole in (plain, gzip.compress(pack(MEMBERS)), gzip.compress(pack(MEMBERS), 0)):
        with pytest.raises(TraceError):
            read_traces(put(tmp_path, "x.tar.gz", whole[: int(len(whole) * kept)]))


def test_an_archive_cut_between_members_is_a_trace_error(tmp_path):
    size = 512 + -(-len(CAB * 40) // 512) * 512
    for cut in (2 * size, 2 * size + 100):
        for squeeze in (bytes, gzip.compress):
            with pytest.raises(TraceError, match="not a whole tar archive"):
                read_traces(put(tmp_path, "x.tar", squeeze(pack(MEMBERS)[:cut])))


def test_a_damaged_archive_is_a_trace_error(tmp_path):
    packed = bytearray(pack(MEMBERS))
    packed[512 + -(-len(CAB * 40) // 512) * 512 + 3] ^= 1
    with pytest.raises(TraceError, match="bad checksum"):
        read_traces(put(tmp_path, "x.tar", bytes(packed)))
    squeezed = bytearray(gzip.compress(pack(MEMBERS)))
    squeezed[-6] ^= 1
    with pytest.raises(TraceError, match="CRC"):
        read_traces(put(tmp_path, "x.tar.gz", bytes(squeezed)))
    squeezer = zlib.compressobj(wbits=31)
    half = squeezer.compress(pack({"new_a.txt": CAB * 2000})[:100_000]) + squeezer.flush(zlib.Z_FULL_FLUSH)
    squeezed = bytearray(half + b"\x07" * 100)  # 7 opens a block of a type that does not exist
    with pytest.raises(TraceError, match="decompressing"):
        read_traces(put(tmp_path, "x.tar.gz", bytes(squeezed)))
    with pytest.raises(TraceError, match="no rows"):
        read_traces(put(tmp_path, "x.tar", pack({"README": "nothing"})))


def test_an_absurdly_large_member_is_refused(tmp_path, monkeypatch):
    huge = tarfile.TarInfo("new_huge.txt")
    huge.size = 1 << 50
    with pytest.raises(TraceError, match=r"new_huge.txt' claims 1125899906842624 bytes"):
        read_traces(put(tmp_path, "x.tar", huge.tobuf() + b"\0" * 1024))
    sized = tarfile.TarInfo("new_sized.txt")
    sized.pax_headers = {"size": str(1 << 50)}
    with pytest.raises(TraceError, match=r"new_sized.txt' claims 1125899906842624 bytes"):
        read_traces(put(tmp_path, "x.tar", sized.tobuf(tarfile.PAX_FORMAT) + b"\0" * 1024))
    for size in (1 << 50, -512):
        extended = tarfile.TarInfo("long")
        extended.type, extended.size = tarfile.XHDTYPE, size
        with pytest.raises(TraceError, match=f"'long' claims {size} bytes"):
            read_traces(put(tmp_path, "x.tar", extended.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024))
    monkeypatch.setattr(archives, "LARGEST", 100)
    with pytest.raises(TraceError, match="at most 100 are read"):
        read_traces(put(tmp_path, "x.tar", pack(MEMBERS)))


def test_an_archive_of_headers_upon_headers_is_a_trace_error(tmp_path):
    extended = tarfile.TarInfo("again")
    extended.type = tarfile.XHDTYPE
    with pytest.raises(TraceError, match="cannot be read"):
        read_traces(put(tmp_path, "x.tar", extended.tobuf() * 5000 + b"\0" * 1024))
