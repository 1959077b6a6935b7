"""Named arrays in a safetensors file, without the package of that name: a length, a JSON header, the values."""

import hashlib
import json
import zlib

import numpy

KINDS = {"F32": numpy.float32, "I64": numpy.int64, "U8": numpy.uint8}
BORDER = 8


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        kind = KINDS[entry["dtype"]]
        arrays[name] = numpy.frombuffer(data, kind, (end - begin) // kind().itemsize, begin).reshape(entry["shape"])
    return arrays


def write(path, arrays):
    header, at = {}, 0
    arrays = {name: numpy.ascontiguousarray(values, numpy.float32) for name, values in arrays.items()}
    for name, values in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % BORDER)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for values in arrays.values():
            file.write(values.data if values.size else b"")


def sha256(arrays):
    """Of the values of all arrays, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(numpy.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def digests(arrays):
    """A short digest of each array's bits, by name."""
    return {name: zlib.crc32(numpy.ascontiguousarray(values, numpy.float32).tobytes())
            for name, values in arrays.items()}
