# SPDX-License-Identifier: Apache-2.0
"""Small tensor files, written and read with Python's standard library alone: the tests must not trust our own writers."""
import ast
import json
import struct

SIZES = {"F32": 4, "F64": 8, "BOOL": 1, "I32": 4, "I64": 8, "U8": 1}
FORMATS = {"F32": "f", "F64": "d", "BOOL": "B", "I32": "i", "I64": "q", "U8": "B"}


def flatten(values):
    if not isinstance(values, list):
        return [values]
    return [x for row in values for x in flatten(row)]


def shape_of(values):
    shape = []
    while isinstance(values, list):
        shape.append(len(values))
        values = values[0] if values else None
    return shape


def safetensors_bytes(tensors, dtypes=None):
    """tensors: name -> nested lists. dtypes: name -> dtype, F32 where not given."""
    header, data = {}, b""
    for name, values in tensors.items():
        dtype = (dtypes or {}).get(name, "F32")
        flat = flatten(values)
        raw = struct.pack("<%d%s" % (len(flat), FORMATS[dtype]), *flat)
        header[name] = {"dtype": dtype, "shape": shape_of(values), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    return with_header(json.dumps(header).encode(), data)


def with_header(header, data, length=None):
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def read_safetensors(path):
    """name -> (shape, flat values); f32, f64 only."""
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = content[8 + length + begin : 8 + length + end]
        count = len(raw) // SIZES[entry["dtype"]]
        tensors[name] = (entry["shape"], list(struct.unpack("<%d%s" % (count, FORMATS[entry["dtype"]]), raw)))
    return tensors


def npy_bytes(values):
    flat = flatten(values)
    header = repr({"descr": "<f4", "fortran_order": False, "shape": tuple(shape_of(values))})
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(flat), *flat)


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10 : 10 + length].decode())
    raw = content[10 + length :]
    code = {"<f4": "f", "<f8": "d"}[header["descr"]]
    return list(header["shape"]), list(struct.unpack("<%d%s" % (len(raw) // struct.calcsize(code), code), raw))
