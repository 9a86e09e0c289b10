# SPDX-License-Identifier: Apache-2.0
"""--version, --help, the example that each verb's help ends with, and arguments that no verb takes."""
import os
import re
import shlex
import shutil
import unittest

from program import REPOSITORY, TINY, ProgramTest

VERBS = ("look", "embed", "run", "explain", "info", "bench")


class Help(ProgramTest):
    def test_version(self):
        version = self.succeeds("--version").stdout.decode()
        with open(os.path.join(REPOSITORY, "include/attn/version.hpp"), encoding="utf-8") as file:
            parts = re.findall(r"^#define ATTN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.MULTILINE)
        self.assertEqual(version, "attn " + ".".join(parts) + "\n")

    def test_help_names_every_verb(self):
        text = self.succeeds("--help").stdout.decode()
        for verb in VERBS:
            self.assertRegex(text, rf"(?m)^  {verb} ")
        self.assertEqual(self.succeeds("-h").stdout.decode(), text)

    def test_help_of_a_verb_lists_its_options(self):
        for verb in VERBS:
            text = self.succeeds(verb, "--help").stdout.decode()
            for option in ("--threads", "--json", "--quiet", "--strict"):
                self.assertIn(option, text)
            self.assertLess(max(map(len, text.splitlines())), 121, text)

    def test_examples_run(self):
        # As from the project's folder, after the demo has fetched the model.
        shutil.copytree(os.path.join(REPOSITORY, "examples"), self.path("examples"))
        os.makedirs(self.path(".cache/models"))
        os.symlink(TINY, self.path(".cache/models/all-MiniLM-L6-v2"))
        for verb in VERBS:
            text = self.succeeds(verb, "--help").stdout.decode()
            example = shlex.split(re.search(r"\nExample:\n  (attn .*)\n", text).group(1))
            self.assertEqual(example[:2], ["attn", verb])
            # The tiny model has two layers in place of six.
            result = self.succeeds(*[a.replace("0-5", "0-1") for a in example[1:]])
            self.assertNotEqual(result.stdout, b"")
            self.assertEqual(result.stderr, b"")
        for name in ("out/attention.html", "e.npy", "out.safetensors"):
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_arguments_that_mean_nothing(self):
        self.refuses([], "expected a verb: look, embed, run, explain, info, bench")
        self.refuses(["dance"], "dance")
        self.refuses(["explain", "--dance"], "--dance")
        self.refuses(["explain", "--threads", "many"], "--threads")
        self.refuses(["explain", "--threads", "-1"], "--threads")
        self.refuses(["explain", "one.json", "two.json"], "two.json")
        self.refuses(["info", "two\nlines.npy"], "two lines.npy")


if __name__ == "__main__":
    unittest.main()
