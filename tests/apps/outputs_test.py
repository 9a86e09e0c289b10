# SPDX-License-Identifier: Apache-2.0
"""What every verb's results have in common: no input is overwritten, places are checked before the work, and a standard
output that cannot be written leaves nothing behind."""
import os
import subprocess
import unittest

from files import npy_bytes, safetensors_bytes
from program import PROGRAM, TINY, ProgramTest

QKV = {"q": [[1.0, 2.0]], "k": [[0.0, 1.0]], "v": [[3.0, 4.0]]}
LONG = "n" * 252


class Outputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("qkv.safetensors", safetensors_bytes(QKV))
        for name, values in QKV.items():
            self.write(name + ".npy", npy_bytes(values))
        self.write("text.txt", "the cat\n")

    def refuses_on(self, arguments, opened):
        """As `refuses`, with a standard output that is opened so and cannot be written."""
        before = self.listing()
        with open("/dev/full", opened) as full:
            result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr.decode(), r"^attn: standard output: cannot be written: [^\n]*\n$")
        self.assertEqual(self.listing(), before, "nothing may be left behind")

    def test_a_full_standard_output(self):
        for arguments in (["run", "qkv.safetensors", "-o", "o.safetensors"], ["run", "qkv.safetensors", "-o", "o.npz", "--json"],
                          ["run", "q.npy", "k.npy", "v.npy", "-o", "o.npy", "--lse"], ["look", TINY, "the cat", "-o", "a/b"],
                          ["embed", TINY, "--file", "text.txt", "-o", "e.npy"], ["explain"], ["info", "q.npy"],
                          ["--help"], ["--version"], ["look", "--help"]):
            with self.subTest(arguments):
                self.refuses_on(arguments, "wb")
                self.refuses_on(arguments, "rb")

    def test_a_closed_standard_output(self):
        """The file that is written then gets the stream's number, unless something prevents it."""
        script = '"$0" run q.npy k.npy v.npy -o o.npy >&-'
        result = subprocess.run(["bash", "-c", script, PROGRAM], cwd=self.folder, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertFalse(os.path.exists(self.path("o.npy")))

    def test_no_input_is_overwritten(self):
        os.symlink("qkv.safetensors", self.path("link.safetensors"))
        os.link(self.path("q.npy"), self.path("hard.npy"))
        os.makedirs(self.path("out"))
        os.symlink("../text.txt", self.path("out/heads-1.svg"))
        self.tiny_model()
        inputs = {name: self.read(name) for name in ("qkv.safetensors", "q.npy", "text.txt", "model/model.safetensors")}
        self.refuses(["run", "qkv.safetensors", "-o", "qkv.safetensors"], "qkv.safetensors: is an input, expected another file")
        self.refuses(["run", "qkv.safetensors", "-o", "./link.safetensors"],
                     "./link.safetensors: is qkv.safetensors, an input, expected another file")
        for output in ("q.npy", "v.npy", "hard.npy"):
            self.refuses(["run", "q.npy", "k.npy", "v.npy", "-o", output], output + ": is")
        self.write("in/lse.npy", npy_bytes(QKV["q"]))
        os.rename(self.path("in/lse.npy"), self.path("in/q.npy"))
        os.symlink("in/q.npy", self.path("o.lse.npy"))
        self.refuses(["run", "in/q.npy", "k.npy", "v.npy", "-o", "o.npy", "--lse"], "o.lse.npy: is in/q.npy, an input")
        os.symlink("text.txt", self.path("e.npy"))
        self.refuses(["embed", TINY, "--file", "text.txt", "-o", "e.npy"], "e.npy: is text.txt, an input")
        self.refuses(["embed", "model", "--file", "text.txt", "-o", "model/model.safetensors"], "model.safetensors: is an input")
        self.refuses(["look", TINY, "--file", "text.txt"], "out/heads-1.svg: is text.txt, an input")
        for name, content in inputs.items():
            self.assertEqual(self.read(name), content)

    def test_names_that_are_too_long(self):
        """Refused before anything is computed: there is no model to compute with."""
        limit = "its name has 256 bytes, expected at most 255"
        self.refuses(["run", "qkv.safetensors", "-o", LONG + ".npy"], limit)
        self.refuses(["run", "q.npy", "k.npy", "v.npy", "-o", LONG[4:] + ".npy", "--weights"], ".weights.npy: its name has 260 bytes")
        self.refuses(["embed", "none", "--file", "text.txt", "-o", LONG + ".npy"], limit)
        self.refuses(["look", "none", "the cat", "-o", LONG + "long"], "the folder cannot be made: File name too long")
        self.refuses(["look", "none", "the cat", "-o", "a/" + LONG + "long/b"], "the folder cannot be made: File name too long")

    def test_folders_are_checked_before_the_work(self):
        self.write("file", "")
        self.refuses(["look", "none", "the cat", "-o", "file"], "file: is a file, expected a folder to write to")
        self.refuses(["look", "none", "the cat", "-o", "file/out"], "file/out: the folder cannot be made")
        os.makedirs(self.path("out/heads.png"))
        self.refuses(["look", "none", "the cat"], "out/heads.png: is a folder")
        self.refuses(["export", "none", "-o", "file"], "file: is a file, expected a folder")
        self.write("recipe.json", '{"task": "language", "data": "none", "tokens": {"kind": "pieces"}}')
        self.refuses(["train", "recipe.json", "-o", "file"], "file: is a file, expected a folder")


if __name__ == "__main__":
    unittest.main()
