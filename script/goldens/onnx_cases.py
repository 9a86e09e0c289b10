# SPDX-License-Identifier: Apache-2.0
"""Copies the ONNX `Attention` backend cases that need no cache into tests/data/onnx, and indexes them.

A case is copied when its one `Attention` node has neither past_key / past_value nor nonpad_kv_seqlen. Each is first
recomputed here in float64 from the operator's description, so that what tests/data/onnx/README.md says about
attributes, masks and alignment is known to hold; a case that differs stops the script.

Run:  python script/goldens/onnx_cases.py --source FOLDER_OF_CASES
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from common import DATA, versions, write_index

INPUTS = ["Q", "K", "V", "attn_mask"]
OUTPUTS = ["Y", "present_key", "present_value", "qk_matmul_output"]


def load_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    if not tensor.HasField("raw_data"):
        raise ValueError(f"{path}: no raw_data; the reader in the tests knows no other storage")
    return tensor.name, numpy_helper.to_array(tensor)


def read_case(folder):
    """The case as a dict for the index, or None if it needs a cache or is of another operator."""
    model = onnx.load(folder / "model.onnx")
    node = model.graph.node[0]
    if len(model.graph.node) != 1 or node.op_type != "Attention" or any(node.input[4:]):
        return None
    case = {
        "name": folder.name,
        "opset": model.opset_import[0].version,
        "attributes": {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
    }
    for kind, wanted, roles in (("input", node.input, INPUTS), ("output", node.output, OUTPUTS)):
        present = [role for name, role in zip(wanted, roles) if name]
        case[kind + "s"] = {}
        for i, role in enumerate(present):
            name, array = load_tensor(folder / "test_data_set_0" / f"{kind}_{i}.pb")
            if name != role:
                raise ValueError(f"{folder.name}: {kind}_{i} is {name}, expected {role}")
            case[kind + "s"][role] = {
                "file": f"test_data_set_0/{kind}_{i}.pb",
                "dtype": str(array.dtype),
                "shape": list(array.shape),
            }
    return case


def visible_pairs(length, keys, attributes):
    """(L, S): query i stands at position i (offset 0, top left), since there is no cache."""
    query, key = np.arange(length)[:, None], np.arange(keys)[None, :]
    seen = np.ones((length, keys), bool)
    if attributes.get("is_causal", 0):
        seen &= key <= query
    if attributes.get("left_window_size", -1) >= 0:
        seen &= key >= query - attributes["left_window_size"]
    if attributes.get("right_window_size", -1) >= 0:
        seen &= key <= query + attributes["right_window_size"]
    return seen


def recompute(arrays, attributes):
    """Y and the four stages of the scores, (B, Hq, L, S) each, in float64."""
    q, k, v = (arrays[name].astype(np.float64) for name in ("Q", "K", "V"))
    flat = q.ndim == 3
    if flat:
        split = lambda x, heads: x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
        q = split(q, attributes["q_num_heads"])
        k, v = (split(x, attributes["kv_num_heads"]) for x in (k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scaled = q @ k.swapaxes(-1, -2) * attributes.get("scale", 1 / np.sqrt(q.shape[-1]))
    cap = attributes.get("softcap", 0.0)
    capped = cap * np.tanh(scaled / cap) if cap else scaled
    biased = np.where(visible_pairs(*scaled.shape[-2:], attributes), capped, -np.inf)
    mask = arrays.get("attn_mask")
    if mask is not None:
        biased = np.where(mask, biased, -np.inf) if mask.dtype == bool else biased + mask
    top = biased.max(axis=-1, keepdims=True)
    e = np.exp(biased - np.where(np.isfinite(top), top, 0))
    weights = e / np.where(e.sum(-1, keepdims=True) == 0, 1, e.sum(-1, keepdims=True))
    # A key of weight 0 adds nothing, whatever stands in its value.
    y = np.einsum("bhls,bhlsd->bhld", weights, np.where(weights[..., None] == 0, 0, v[:, :, None]))
    if flat:
        y = y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)
    return y, [scaled, capped, biased, weights]


def check(folder, case):
    """Stops unless the stored outputs are what recompute() gives; returns the largest error."""
    arrays = {role: load_tensor(folder / entry["file"])[1] for role, entry in case["inputs"].items()}
    y, stages = recompute(arrays, case["attributes"])
    wanted = {"Y": y, "qk_matmul_output": stages[case["attributes"].get("qk_matmul_output_mode", 0)]}
    worst = 0.0
    for role, entry in case["outputs"].items():
        stored = load_tensor(folder / entry["file"])[1].astype(np.float64)
        same_inf = np.isneginf(stored) & np.isneginf(wanted[role])
        error = np.abs(np.where(same_inf, 0, stored) - np.where(same_inf, 0, wanted[role])).max()
        limit = 2e-3 if entry["dtype"] == "float16" else 2e-6
        if not error <= limit:
            raise ValueError(f"{case['name']}: {role} differs by {error} from the operator's description")
        worst = max(worst, error)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="folder with the ONNX cases, one folder a case")
    parser.add_argument("--out", type=Path, default=DATA / "onnx")
    args = parser.parse_args()
    used = versions("onnx", "numpy")
    cases = []
    for folder in sorted(args.source.glob("test_*attention_*")):
        case = read_case(folder)
        if case is None:
            continue
        print(f"{case['name']}: max error {check(folder, case):.1e}")
        shutil.copytree(folder, args.out / folder.name, dirs_exist_ok=True, copy_function=shutil.copyfile)
        cases.append(case)
    write_index(args.out / "cases.json", {"versions": used}, cases)
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
