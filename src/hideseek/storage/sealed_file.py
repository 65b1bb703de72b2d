"""Files of arrays with a document and a checksum over every byte: written whole, believed only as they were written.

They are safetensors: tensors by name, and a header that holds the document as JSON. They are read once, and what is
verified is what is kept: nobody changes it afterwards.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

import msgspec
import numpy as np

from hideseek.errors import HideseekError, broken_rule, without_value
from hideseek.util.private_files import read_plain_file, write_privately

LARGEST = 256 * 2**20  # bytes
LARGEST_HEADER = 16 * 2**20
BLANK = "0" * 64  # stands for the checksum while it is computed
NUMBERS = {name: np.dtype(kind) for name, kind in {"U16": "<u2", "U32": "<u4", "U64": "<u8", "F64": "<f8"}.items()}

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Checksum = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class _Tensor(msgspec.Struct, forbid_unknown_fields=True):
    dtype: Literal["U16", "U32", "U64", "F64"]
    shape: Annotated[list[Count], msgspec.Meta(max_length=2)]
    data_offsets: tuple[Count, Count]


class SealedDocument(Protocol):
    """A document; that of a codebook also has its version, as ``hideseek_codebook``."""

    sha256: str


Document = TypeVar("Document", bound=SealedDocument)
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Sealed(Generic[Document]):
    """An opened file whose checksum is right: its document, and tensors to be taken one after the other."""

    document: Document
    tensors: dict[str, _Tensor]
    data: memoryview
    error: type[HideseekError]

    def take(self, name: str, *kinds: str, ndim: int = 1) -> Any:
        """A tensor of one of these types."""
        entry = self.tensors.pop(name, None)
        if entry is None or entry.dtype not in kinds or len(entry.shape) != ndim:
            raise self.error(f"The tensor {name} is missing or has another type.")
        return np.frombuffer(self.data[slice(*entry.data_offsets)], NUMBERS[entry.dtype]).reshape(entry.shape)

    def end(self) -> None:
        """Refuse what was not taken."""
        if self.tensors:
            raise self.error("It holds unknown tensors.")


@dataclass(frozen=True)
class FileKind(Generic[Document]):
    """A kind of file by its ``name``, the version and type of its document, and the error that refuses one."""

    name: str
    version: int
    document: type[Document]
    error: type[HideseekError]

    def sealed(self, document: Document, tensors: Mapping[str, Any]) -> bytes:
        """The file of a document, whose checksum is still blank, and tensors."""
        from safetensors.numpy import save  # here, because a device only reads, and starts without it

        arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        unsigned = save(arrays, {"hideseek": msgspec.json.encode(document).decode()})
        return unsigned.replace(BLANK.encode(), hashlib.sha256(unsigned).hexdigest().encode(), 1)

    def opened(self, content: memoryview | bytes) -> Sealed[Document]:
        """The document and the tensors of a file."""
        view = memoryview(content)
        if len(view) < 8:
            raise self.error("It is cut short.")
        (length,) = struct.unpack("<Q", view[:8])
        if length > min(LARGEST_HEADER, len(view) - 8) or length % 8:
            raise self.error("Its header is cut short or too long, so it is damaged or of another kind.")
        header, data = bytes(view[8 : 8 + length]), view[8 + length :]
        document, tensors = self._header(header)
        digest = hashlib.sha256(view[:8])
        digest.update(header.replace(document.sha256.encode(), BLANK.encode(), 1))
        digest.update(data)
        if digest.hexdigest() != document.sha256:
            raise self.error("Its checksum is wrong: it was damaged or changed.")
        end = 0
        for tensor in tensors.values():
            begin, size = tensor.data_offsets[0], NUMBERS[tensor.dtype].itemsize
            if begin != end or begin % size:
                raise self.error("Its tensors overlap, or do not follow one another.")
            end = tensor.data_offsets[1]
            if end - begin != size * math.prod(tensor.shape):
                raise self.error("The size of a tensor does not fit its shape.")
        if end != len(data):
            raise self.error("Its tensors end elsewhere than the file.")
        return Sealed(document, tensors, data, self.error)

    def _header(self, header: bytes) -> tuple[Document, dict[str, _Tensor]]:
        """The document and the list of tensors that a header holds."""
        try:
            entries = msgspec.json.decode(header, type=dict[str, msgspec.Raw])
            text = msgspec.json.decode(entries.pop("__metadata__"), type=dict[str, str])["hideseek"]
            fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            version = msgspec.json.decode(fields[f"hideseek_{self.name}"], type=Count)
            if not 1 <= version <= self.version:
                newer = "was written by a newer hideseek" if version > self.version else "has an unknown version"
                raise self.error(f"It {newer} (format {version}).")
            document = msgspec.json.decode(text, type=self.document)
            tensors = {name: msgspec.json.decode(entry, type=_Tensor) for name, entry in entries.items()}
        except (msgspec.DecodeError, UnicodeError, KeyError, RecursionError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else error
            raise self.error(f"Its header is not that of a {self.name}: {why}.") from None
        # one way to write everything: no key twice, no number or name in another guise
        written = msgspec.json.encode({"__metadata__": {"hideseek": msgspec.json.encode(document).decode()}, **tensors})
        if written.ljust(-(-len(written) // 8) * 8) != header:
            raise self.error("Its header is not written as hideseek writes it.")
        return document, tensors

    def save(self, path: str | os.PathLike[str], content: bytes, owner: str) -> None:
        """Write a file whole or not at all, readable by its owner only."""
        file = checked_path(path, owner)
        try:
            write_privately(file, content)
        except OSError as error:
            raise self.error(f"The {self.name} {file} cannot be written: {error.strerror}.") from None

    def load(self, path: str | os.PathLike[str], owner: str, made_from: Callable[[memoryview], Made]) -> Made:
        """What is made from a file's content; whatever is wrong with it is raised as this kind's error."""
        file = checked_path(path, owner)
        content = self._read(file)
        try:
            return made_from(memoryview(content))
        except HideseekError as error:
            reason = without_value(error)
        except MemoryError:
            reason = "It needs more memory than there is."
        raise self.error(f"{file.name} cannot be trusted as a {self.name}: {reason}")

    def _read(self, file: Path) -> bytes:
        """A file's content, refused unless it is a plain file of a size that is read."""
        try:
            return read_plain_file(file, LARGEST)
        except OSError as error:
            raise self.error(f"The {self.name} {file} cannot be read: {error.strerror}.") from None
        except MemoryError:
            raise self.error(f"The {self.name} {file} cannot be read: it needs more memory than there is.") from None
        except ValueError as error:  # a name that no file can have
            raise self.error(f"The {self.name} {str(file)!r} cannot be read: {error}.") from None


def checked_path(path: str | os.PathLike[str], owner: str) -> Path:
    """The path of a file."""
    try:
        return Path(path)
    except TypeError:
        raise broken_rule("path", owner, "the path of a file", repr(path)) from None
