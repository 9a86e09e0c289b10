# SPDX-License-Identifier: Apache-2.0
"""attn info: what model folders and tensor files hold."""
import io
import json
import os
import unittest
import zipfile

from files import npy_bytes, safetensors_bytes, with_header
from program import TINY, ProgramTest


class Info(ProgramTest):
    def test_model_folder(self):
        text = self.succeeds("info", TINY).stdout.decode()
        self.assertTrue(text.startswith("BERT encoder: 2 layers of 4 heads, hidden size 32, feed-forward 48, 32 positions, 98 words\n"), text)
        self.assertRegex(text, r"\nbert\.encoder\.layer\.1\.attention\.self\.key\.weight +f32 +\(32, 32\)\n")
        printed = json.loads(self.succeeds("info", TINY, "--json").stdout)
        self.assertEqual(printed["tensors"]["bert.encoder.layer.0.intermediate.dense.weight"], {"dtype": "f32", "shape": [48, 32]})

    def test_other_models(self):
        self.write("model/model.safetensors", safetensors_bytes({"w": [[1.0]]}))
        self.assertIn(b"model folder without a config.json", self.succeeds("info", "model").stdout)
        self.write("model/config.json", '{"model_type": "gpt2"}')
        self.assertIn(b'model of type "gpt2", which attn does not run', self.succeeds("info", "model").stdout)

    def test_tensor_files(self):
        tensors = {"a": [[1, 2, 3]], "b": [1, 2]}
        self.write("t.safetensors", safetensors_bytes(tensors, {"b": "I64"}))
        text = self.succeeds("info", "t.safetensors").stdout.decode()
        self.assertTrue(text.startswith("safetensors\n2 tensors, 5 numbers, 28 bytes\n"), text)
        self.assertRegex(text, r"\na +f32 +\(1, 3\)\nb +i64 +\(2\)\n$")
        self.write("x.npy", npy_bytes([[1, 2, 3]]))
        self.assertRegex(self.succeeds("info", "x.npy").stdout.decode(), r"\nx +f32 +\(1, 3\)\n$")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("q.npy", npy_bytes([1, 2]))
        self.write("x.npz", archive.getvalue())
        self.assertRegex(self.succeeds("info", "x.npz").stdout.decode(), r"\nq +f32 +\(2\)\n$")

    def test_dtypes_that_attn_does_not_compute_with(self):
        self.write("t.safetensors", safetensors_bytes({"a": [1, 2], "b": [1, 2]}, {"b": "I64"}).replace(b"I64", b"U64"))
        text = self.succeeds("info", "t.safetensors").stdout.decode()
        self.assertTrue(text.startswith("safetensors\n2 tensors, 4 numbers, 24 bytes\n"), text)
        self.assertRegex(text, r"\na +f32 +\(2\)\nb +U64 +\(2\)\n$")
        printed = json.loads(self.succeeds("info", "t.safetensors", "--json").stdout)
        self.assertEqual(printed["tensors"]["b"], {"dtype": "U64", "shape": [2]})

    def test_shards(self):
        self.write("m/one.safetensors", safetensors_bytes({"a": [1.0]}))
        self.write("m/two.safetensors", safetensors_bytes({"b": [2.0]}))
        self.write("m/model.safetensors.index.json", json.dumps({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}))
        for path in ("m", "m/model.safetensors.index.json"):
            self.assertEqual(sorted(json.loads(self.succeeds("info", path, "--json").stdout)["tensors"]), ["a", "b"])

    def test_names_cannot_command_the_terminal(self):
        self.write("t.safetensors", safetensors_bytes({"\x1b[31mred\nline": [1.0]}))
        text = self.succeeds("info", "t.safetensors").stdout
        self.assertNotIn(b"\x1b", text)
        self.assertEqual(text.count(b"\n"), 4)

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "wb") as full:
            result = self.attn("info", TINY, stdout=full)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr.decode(), r"^attn: standard output: .*No space left on device.*\n$")

    def test_standard_error_that_is_closed(self):
        self.assertEqual(self.attn("info", "none", preexec_fn=lambda: os.close(2)).returncode, 2)


class InfoRefuses(ProgramTest):
    def test_bad_input(self):
        self.refuses(["info", "none"], "none: no such file or folder")
        self.refuses(["info", ""], "path: empty, expected a path")
        self.refuses(["info"], "path is required")
        self.write("x.npy", npy_bytes([[1, 2, 3]])[:-1])
        self.refuses(["info", "x.npy"], "x.npy")
        self.write("x.npz", b"PK")
        self.refuses(["info", "x.npz"], "x.npz")
        self.write("x.txt", "text")
        self.refuses(["info", "x.txt"], "x.txt: expected a model folder, or a .safetensors, .npy or .npz file")
        self.write("x.safetensors", with_header(b"{}", b"", length=10**15))
        self.refuses(["info", "x.safetensors"], "x.safetensors: header")
        os.makedirs(self.path("folder"))
        self.refuses(["info", "folder"], "folder")
        self.write("folder/pytorch_model.bin", "")
        self.refuses(["info", "folder"], "pytorch_model.bin")
        self.refuses(["info", "folder/pytorch_model.bin"], "pytorch_model.bin")


if __name__ == "__main__":
    unittest.main()
