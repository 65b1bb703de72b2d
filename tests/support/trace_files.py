"""Small files of traces of every format, and archives of them."""

from __future__ import annotations

import gzip
import io
import tarfile
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from hideseek.errors import TraceError, TraceWarning
from hideseek.traces.reading import read_traces
from hideseek.traces.table import COLUMNS, joined, sift_blocks
from tests.support.columnar_files import arrow, parquet, table
from tests.support.fit_files import FIT
from tests.support.json_exports import SHAPES
from tests.support.xml_files import KML_FIX, KML_HEAD, KML_STAY, KML_TAIL, TCX, TCX_INDOORS

CAB = "37.75134 -122.39488 0 1213084687\n37.75136 -122.39527 1 1213084659\n37.75199 -122.3946 0 1213084540\n"
PLT = (
    "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"
    "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\n"
    "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10\n"
)
GPX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1">'
    '<wpt lat="46.5" lon="6.5"><time>2020-01-01T12:00:00Z</time></wpt>'
    '<trk><trkseg><trkpt lat="46.6" lon="6.6"><ele>400</ele><time>2020-01-01T10:00:00+01:00</time></trkpt>'
    '<trkpt lat="46.7" lon="6.7"><time>2020-01-01T10:00:00</time></trkpt></trkseg></trk></gpx>'
)
CSV = "user_id,tracked_at,latitude,longitude\na,2020-01-01 10:00:00,46.5,6.5\na,2020-01-01 11:00:00,46.6,6.6\n"
TEXTS = {
    "cabspotting": CAB,
    "geolife": PLT,
    "gpx": GPX,
    "csv": CSV,
    "kml": KML_HEAD + KML_FIX + KML_STAY + KML_TAIL,
    "tcx": TCX.replace(TCX_INDOORS, ""),
    "google-timeline": SHAPES["timeline"]["android"],
    "google-records": SHAPES["records"]["records"],
    "google-semantic": SHAPES["semantic"]["semantic"],
    "owntracks": SHAPES["owntracks"]["rec"],
    "overland": SHAPES["overland"]["one"],
    "geojson": SHAPES["geojson"]["collection"],
}
BYTES = {"fit": FIT, "parquet": parquet(table()), "arrow": arrow(table())}
SAMPLES = {name: text.encode() for name, text in TEXTS.items()} | BYTES


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pack(members: dict[str, str | bytes | tarfile.TarInfo]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def times(table: pd.DataFrame) -> list[str]:
    return table["tracked_at"].dt.strftime("%Y-%m-%d %H:%M:%S").tolist()


def assert_valid(table: pd.DataFrame) -> None:
    assert tuple(table.columns) in (COLUMNS, (*COLUMNS, "finished_at"))
    lasted = table.get("finished_at", table["tracked_at"]) - table["tracked_at"]
    assert lasted.between(pd.Timedelta(0), pd.Timedelta(days=366)).all()
    assert isinstance(table["tracked_at"].dtype, pd.DatetimeTZDtype)
    assert str(table["tracked_at"].dt.tz) == "UTC"
    assert table.index.equals(pd.RangeIndex(len(table)))
    assert len(table) > 0
    assert all(isinstance(user, str) and user for user in table["user_id"])
    assert table["latitude"].between(-90, 90).all()
    assert table["longitude"].between(-180, 180).all()
    assert (table["tracked_at"] >= pd.Timestamp("1970-01-01", tz="UTC")).all()
    assert (table["tracked_at"].dt.year < 2100).all()
    assert not table.duplicated(["user_id", "tracked_at"]).any()
    keys = list(zip(table["user_id"], table["tracked_at"], strict=True))
    assert keys == sorted(keys)
    report = table.attrs["report"]
    assert report.read - report.duplicates == len(table)
    assert report.skipped == sum(report.reasons.values())


def sifted(blocks: Iterable[pd.DataFrame]) -> tuple[pd.DataFrame, int]:
    """The good rows of what a reader gives, as those of anna, and how many others there are."""
    found = list(sift_blocks(blocks, "x", "anna"))
    return joined([rows for rows, _ in found]), sum(tally.skipped for _, tally in found)


def reads_or_refuses(path: Path, name: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            table = read_traces(path, format=name)
        except TraceError:
            return
    assert_valid(table)


def by_hand(**columns: object) -> pd.DataFrame:
    clean = {
        "user_id": ["a", "a"],
        "tracked_at": pd.to_datetime(["2020-01-01 10:00", "2020-01-01 11:00"], utc=True),
        "latitude": [46.5, 46.6],
        "longitude": [6.5, 6.6],
    }
    return pd.DataFrame({**clean, **columns})


def zipped(members: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def gzipped(content: str | bytes) -> bytes:
    return gzip.compress(content.encode() if isinstance(content, str) else content)
