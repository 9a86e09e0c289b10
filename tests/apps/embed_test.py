# SPDX-License-Identifier: Apache-2.0
"""attn embed, on a tiny model: rows, notices, and that a row depends on its line alone."""
import json
import math
import os
import unittest

from files import read_npy, read_safetensors
from program import DATA, TINY, ProgramTest, full_disk

LINES = ["The cat saw the dog", "", "the dog", "a", "cat cat cat cat cat cat", "", "The cat saw the dog"]


class Embed(ProgramTest):
    def embed(self, lines, *options):
        """The rows of the result, each a tuple."""
        self.write("text.txt", "".join(line + "\n" for line in lines))
        self.succeeds("embed", TINY, "--file", "text.txt", "-o", "e.npy", "--quiet", *options)
        (rows, width), values = read_npy(self.path("e.npy"))
        return [tuple(values[r * width : (r + 1) * width]) for r in range(rows)]

    def test_row_i_is_line_i(self):
        rows = self.embed(LINES)
        self.assertEqual(len(rows), len(LINES))
        for row in rows:
            self.assertEqual(len(row), 32)
            self.assertAlmostEqual(math.hypot(*row), 1, places=5)
        self.assertEqual(rows[0], rows[6])
        self.assertEqual(rows[1], rows[5])
        self.assertNotEqual(rows[0], rows[2])

    def test_lines(self):
        self.write("text.txt", b"\xef\xbb\xbfthe dog\r\n\r\nthe cat")
        self.succeeds("embed", TINY, "--file", "text.txt", "-o", "dos.npy")
        dos = read_npy(self.path("dos.npy"))[1]
        self.assertEqual(dos, [x for row in self.embed(["the dog", "", "the cat"]) for x in row])
        self.succeeds("embed", TINY, "--file", "/dev/stdin", "-o", "piped.npy", input=self.read("text.txt"))
        self.assertEqual(self.read("piped.npy"), self.read("dos.npy"))
        self.assertEqual(self.embed([]), [])

    def test_a_row_depends_on_its_line_alone(self):
        together = self.embed(LINES)
        for line, row in zip(LINES, together):
            self.assertEqual(self.embed([line]), [row])
        for threads in ("1", "2", "3", "7"):
            self.assertEqual(self.embed(LINES, "--threads", threads), together)

    def test_values(self):
        with open(os.path.join(DATA, "tiny_bert", "relu_prefix.json"), encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        expected = read_safetensors(os.path.join(DATA, "tiny_bert", "relu_prefix.safetensors"))
        cases = [c for c in cases if "text" in c and c["second"] is None and c["lengths"][0] <= 24]
        self.assertGreater(len(cases), 1)
        for case, row in zip(cases, self.embed([case["text"] for case in cases])):
            for a, b in zip(row, expected[case["name"] + ".embedding"][1]):
                self.assertAlmostEqual(a, b, delta=5e-6)

    def test_safetensors(self):
        rows = self.embed(LINES)
        self.succeeds("embed", TINY, "--file", "text.txt", "-o", "e.safetensors")
        self.assertEqual(read_safetensors(self.path("e.safetensors")), {"embeddings": ([7, 32], [x for row in rows for x in row])})

    def test_what_is_printed(self):
        self.write("text.txt", "the\n\ncat\n")
        result = self.succeeds("embed", TINY, "--file", "text.txt", "-o", "e.npy")
        self.assertRegex(result.stdout.decode(), r"^3 texts in \d+\.\d{3} s\ne\.npy\n$")
        self.assertEqual(result.stderr, b"")
        printed = json.loads(self.succeeds("embed", TINY, "--file", "text.txt", "-o", "e.npy", "--json").stdout)
        self.assertEqual((printed["file"], printed["shape"]), ("e.npy", [3, 32]))

    def test_notices(self):
        self.write("text.txt", b"the cat\n" + b"the " * 99 + b"\nthe \xff cat\n")
        result = self.gives_notice(["embed", TINY, "--file", "text.txt", "-o", "e.npy", "--json"], "text.txt:2: longer than the model's 24 tokens, cut")
        self.assertIn("text.txt:3: bytes that are not UTF-8 were read as U+FFFD", result.stderr.decode())
        printed = json.loads(result.stdout)
        self.assertEqual((printed["cut"], printed["replaced_invalid"]), ([1], [2]))
        self.refuses(["embed", TINY, "--file", "text.txt", "-o", "strict.npy", "--strict"], "text.txt:")


class EmbedRefuses(ProgramTest):
    def test_bad_input(self):
        self.write("text.txt", "the cat\n")
        self.refuses(["embed", TINY, "--file", "text.txt", "-o", "e.txt"], "e.txt: expected a name that ends in .npy or .safetensors")
        self.refuses(["embed", TINY, "--file", "none.txt", "-o", "e.npy"], "none.txt: cannot be opened: No such file")
        self.refuses(["embed", TINY, "--file", "/dev/zero", "-o", "e.npy"], "/dev/zero: a device, expected a text file")
        with open(self.path("large.txt"), "wb") as file:
            file.truncate((1 << 30) + 1)
        self.refuses(["embed", TINY, "--file", "large.txt", "-o", "e.npy"], "large.txt: larger than the 1073741824 bytes it may have")
        self.refuses(["embed", TINY, "--file", "text.txt"], "--output")
        self.refuses(["embed", TINY, "-o", "e.npy"], "--file")
        self.refuses(["embed", "none", "--file", "text.txt", "-o", "e.npy"], "none")
        self.refuses(["embed", TINY, "--file", "text.txt", "-o", "none/e.npy"], "none/e.npy")

    def test_full_disk(self):
        self.write("text.txt", "the cat\n" * 100)
        self.write("e.npy", "old")
        self.refuses(["embed", TINY, "--file", "text.txt", "-o", "e.npy"], "e.npy", **full_disk())
        self.assertEqual(self.read("e.npy"), b"old")

    def test_pooling_that_is_not_known(self):
        self.tiny_model()
        self.write("text.txt", "the cat\n")
        self.write("model/modules.json", json.dumps([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                                                     {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]))
        self.write("model/1_Pooling/config.json", json.dumps({"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": True}))
        self.refuses(["embed", "model", "--file", "text.txt", "-o", "e.npy"], "1_Pooling/config.json")


if __name__ == "__main__":
    unittest.main()
