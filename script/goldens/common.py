# SPDX-License-Identifier: Apache-2.0
"""What the golden scripts share: where the data lie, which versions made them, and how they are written.

Every script prints the versions it ran with and records them in the files it writes, so that a golden can be
traced back to the peer which computed it.
"""

import importlib.metadata
import json
import platform
from pathlib import Path

import numpy as np

REPO = Path(__file__).resolve().parents[2]
DATA = REPO / "tests" / "data"


def versions(*packages):
    """The versions in use, by name."""
    found = {"python": platform.python_version()}
    for package in packages:
        found[package] = importlib.metadata.version(package)
    print("versions: " + ", ".join(f"{name} {version}" for name, version in found.items()))
    return found


def write_tensors(path, tensors, metadata):
    """Writes a safetensors file; float64 becomes float32, since the goldens are stored in f32.

    The metadata go into one entry, as JSON: the library writes several entries in an order that changes from run to run.
    """
    import torch
    from safetensors.torch import save_file

    stored = {}
    for name, tensor in tensors.items():
        tensor = torch.as_tensor(np.asarray(tensor)) if not isinstance(tensor, torch.Tensor) else tensor
        if tensor.dtype == torch.float64:
            tensor = tensor.to(torch.float32)
        stored[name] = tensor.detach().contiguous().clone()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(stored, path, metadata={"made_by": json.dumps(metadata)})
    report(path)


def write_index(path, head, cases):
    """Writes {**head, "cases": [...]} with one case a line, in ASCII (so that no editor or checkout alters it)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    dump = lambda value: json.dumps(value, separators=(",", ":"))
    fields = "".join(f"{dump(key)}:{dump(value)},\n" for key, value in {**head, "count": len(cases)}.items())
    text = "{" + fields + '"cases":[\n' + ",\n".join(dump(case) for case in cases) + "\n]}\n"
    path.write_text(text, encoding="ascii")
    report(path)


def write_json_lines(path, values):
    """Writes one JSON value a line, in ASCII: any character, even a line feed, can stand in a string."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values)
    path.write_text(text, encoding="ascii")
    report(path)


def report(path):
    print(f"{path}: {path.stat().st_size} bytes")
