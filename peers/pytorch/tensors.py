"""Named tensors in a safetensors file, without the package of that name: a length, a JSON header, the values."""

import json

import numpy
import torch

KINDS = {"F32": numpy.float32, "I64": numpy.int64, "U8": numpy.uint8}
BORDER = 8


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(data[begin:end], KINDS[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def write(path, tensors):
    header, data, at = {}, [], 0
    for name, tensor in tensors.items():
        values = numpy.ascontiguousarray(tensor.detach().cpu().float().numpy())
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + values.nbytes]}
        data.append(values.tobytes())
        at += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % BORDER)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(data))
