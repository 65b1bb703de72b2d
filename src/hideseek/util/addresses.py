"""Addresses of files elsewhere, such as s3://bucket/folder: whatever fsspec reaches."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from hideseek.errors import MissingExtraError, broken_rule

if TYPE_CHECKING:  # takes long to import
    from fsspec import AbstractFileSystem

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.I)
WHO = re.compile(r"(?<=://)[^/@]*@")  # a name and a password
EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}  # the extra of ours that brings the driver


def is_address(path: object) -> bool:
    """Whether this is an address and no path on this machine.

    >>> is_address("s3://bucket/folder"), is_address("folder/file.csv")
    (True, False)
    """
    return isinstance(path, str) and ADDRESS.match(path) is not None


def without_password(address: str) -> str:
    """An address as messages may show it.

    >>> without_password("ftp://ann:secret@host/folder")
    'ftp://host/folder'
    """
    return WHO.sub("", address)


def file_system(
    url: str | os.PathLike[str], parameter: str, owner: str, rule: str = "a folder, or an address that fsspec knows"
) -> tuple[AbstractFileSystem, str]:
    """The file system of a path or an address, and where on it that is."""
    from fsspec.core import url_to_fs

    try:
        if not os.fspath(url):
            raise ValueError("nothing")
        fs, root = url_to_fs(os.fspath(url))
    except ImportError as error:
        shown = without_password(str(url))
        extra = EXTRAS.get(shown.partition("://")[0].lower())
        way_out = f": pip install 'hideseek[{extra}]'" if extra else f" ({error})"
        raise MissingExtraError(f"The address {shown} needs another package{way_out}.") from None
    except (TypeError, ValueError) as error:
        shown = without_password(repr(url))
        raise broken_rule(parameter, owner, rule, f"{shown} ({error})") from None
    return fs, root
