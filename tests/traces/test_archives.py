"""Archives are read as they are distributed, and refused where they are damaged or hostile."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib

import pytest

from hideseek.errors import TraceError, TraceWarning
from hideseek.traces import archives
from hideseek.traces.reading import ReadReport, read_traces
from tests.support.trace_files import CAB, assert_valid, gzipped, pack, put, zipped


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
    with pytest.raises(TraceError, match="no file to read; looked for parquet, "):
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


TAKEOUT = {
    "Takeout/archive_browser.html": "<html></html>",
    "Takeout/Location History/": "",
    "Takeout/Location History/2019/2019_JANUARY.csv": "t,x,y\n2019-01-01,1,2\n",
    "Takeout/Location History/Records.csv": "t,x,y\n2020-01-01,1,2\n",
    "__MACOSX/._Records.csv": "fork",
    "../../2021-05.csv": "t,x,y\n2021-01-01,1,2\n",
}


def test_a_zip_is_read_with_its_folders_and_one_export_is_one_person(tmp_path):
    with pytest.warns(TraceWarning, match=r"files passed over: 1, the first: Takeout/archive_browser\.html"):
        table = read_traces(put(tmp_path, "takeout-1.zip", zipped(TAKEOUT)))
    assert_valid(table)
    assert table["tracked_at"].dt.year.tolist() == [2019, 2020, 2021]
    assert set(table["user_id"]) == {"takeout-1"}
    assert [path.name for path in tmp_path.iterdir()] == ["takeout-1.zip"]


@pytest.mark.parametrize("pack_up", [zipped, pack])
def test_files_that_are_packed_one_by_one_in_an_archive_are_read(tmp_path, pack_up):
    members = {"activities/1.csv.gz": gzipped("t,x,y\n2019-01-01,1,2\n"), "activities/2.csv": "t,x,y\n2020-01-01,1,2\n"}
    table = read_traces(put(tmp_path, "export_7.zip", pack_up(members)))
    assert table.groupby("user_id")["latitude"].size().to_dict() == {"export_7": 2}
    assert table.attrs["report"].told_apart_by == "folder"


@pytest.mark.parametrize("name", ["ann.csv.gz", "ann.csv.GZ", "ann.gz"])
def test_a_file_that_is_packed_by_itself_is_read_under_its_name(tmp_path, name):
    table = read_traces(put(tmp_path, name, gzipped("t,x,y\n2019-01-01,1,2\n")))
    assert table["user_id"].tolist() == ["ann"]


def encrypted(packed: bytes) -> bytes:
    """The archive with the mark of encryption on its only file."""
    data = bytearray(packed)
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + at] |= 1
    return bytes(data)


def test_what_cannot_be_unpacked_is_told(tmp_path):
    with pytest.raises(TraceError, match=r"new_a\.txt: it is encrypted"):
        read_traces(put(tmp_path, "x.zip", encrypted(zipped({"new_a.txt": CAB}))))
    unusual = io.BytesIO()
    with zipfile.ZipFile(unusual, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("new_a.txt", CAB)
    with pytest.raises(TraceError, match="packed in an unusual way"):
        read_traces(put(tmp_path, "x.zip", unusual.getvalue()))
    for inner in (pack(MEMBERS), zipped(MEMBERS), gzipped(pack(MEMBERS)), gzipped(gzipped(CAB))):
        for outer in (zipped({"inner": inner}), pack({"inner": inner}), gzipped(zipped({"a": inner}))):
            with pytest.raises(TraceError, match="an archive in an archive is not read"):
                read_traces(put(tmp_path, "x.zip", outer))


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9, 0.99])
def test_a_truncated_zip_or_gzip_is_a_trace_error_and_never_shorter(tmp_path, kept):
    for whole in (zipped(MEMBERS), gzipped(CAB * 40)):
        with pytest.raises(TraceError):
            read_traces(put(tmp_path, "x", whole[: int(len(whole) * kept)]))


def test_a_zip_whose_bytes_are_not_those_that_were_packed_is_refused(tmp_path):
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("new_a.txt", CAB)
    packed = stored.getvalue().replace(b"37.75134", b"37.75135")
    with pytest.raises(TraceError, match="CRC"):
        read_traces(put(tmp_path, "x.zip", packed))


def test_an_archive_that_unpacks_to_far_more_than_traces_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "UNPACKED", 1000)
    monkeypatch.setattr(archives, "RATIO", 2)
    for bomb in (zipped({"new_a.txt": CAB * 400}), gzipped(CAB * 400), gzipped(pack({"new_a.txt": CAB * 400}))):
        with pytest.raises(TraceError, match="unpacks to more than"):
            read_traces(put(tmp_path, "x", bomb))
    monkeypatch.setattr(archives, "FILES", 2)
    monkeypatch.setattr(archives, "SMALLEST", 10**6)
    for bomb in (zipped(dict.fromkeys(MEMBERS, CAB)), pack(dict.fromkeys(MEMBERS, CAB))):
        with pytest.raises(TraceError, match="holds more than 2 files"):
            read_traces(put(tmp_path, "x", bomb))
