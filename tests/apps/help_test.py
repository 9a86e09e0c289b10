# SPDX-License-Identifier: Apache-2.0
"""--version, --help, the example that each verb's help ends with, and arguments that no verb takes."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import unittest

import train_data
from program import PROGRAM, REPOSITORY, TINY, ProgramTest

# Those that --help lists.
VERBS = re.findall(r"(?m)^  (\w+) ", re.split("(?i)subcommands:\n", subprocess.check_output([PROGRAM, "--help"], text=True))[1])


class Help(ProgramTest):
    def test_version(self):
        version = self.succeeds("--version").stdout.decode()
        with open(os.path.join(REPOSITORY, "include/attn/version.hpp"), encoding="utf-8") as file:
            parts = re.findall(r"^#define ATTN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.MULTILINE)
        self.assertEqual(version, "attn " + ".".join(parts) + "\n")

    def test_help_names_every_verb(self):
        text = self.succeeds("--help").stdout.decode()
        self.assertGreater(len(VERBS), 9, text)
        self.assertEqual(self.succeeds("-h").stdout.decode(), text)
        self.refuses([], "no verb, expected one of " + ", ".join(VERBS))

    def test_readme_names_every_verb_and_page(self):
        with open(os.path.join(REPOSITORY, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        for verb in VERBS:
            self.assertRegex(readme, rf"(?m)^    attn {verb} ")
        for page in glob.glob("docs/*.md", root_dir=REPOSITORY):
            self.assertIn(f"]({page})", readme)

    def test_help_of_a_verb_lists_its_options(self):
        for verb in VERBS:
            text = self.succeeds(verb, "--help").stdout.decode()
            for option in ("--threads", "--json", "--quiet", "--strict"):
                self.assertIn(option, text)
            self.assertLess(max(map(len, text.splitlines())), 121, text)

    def small_recipe(self, task):
        """In place of the task's recipe and data, so that it is trained in a moment."""
        name = f"examples/recipes/{task}.json"
        recipe = json.loads(self.read(name))
        train_data.write(self.path(recipe["data"]), task)
        recipe["model"] |= {"width": 16, "layers": 1, "heads": 2, "feedforward": 32}
        recipe["training"] |= {"steps": 2, "batch": 4, "warmup": 0}
        if "tokens" in recipe:
            recipe["tokens"]["max_size"] = 60
        return self.write(name, json.dumps(recipe))

    def test_examples_run(self):
        # As from the project's folder, after the demo has fetched the model and the recipes have been trained.
        shutil.copytree(os.path.join(REPOSITORY, "examples"), self.path("examples"))
        os.makedirs(self.path(".cache/models"))
        os.symlink(TINY, self.path(".cache/models/all-MiniLM-L6-v2"))
        self.small_recipe("images")
        for task in ("language", "entities"):
            self.succeeds("train", self.small_recipe(task), "--quiet")
        for verb in VERBS:
            text = self.succeeds(verb, "--help").stdout.decode()
            example = shlex.split(re.search(r"\nExample.*:\n  (attn .*)\n", text).group(1))
            self.assertEqual(example[:2], ["attn", verb])
            # The tiny model has two layers in place of six.
            result = self.succeeds(*[a.replace("0-5", "0-1") for a in example[1:]])
            self.assertNotEqual(result.stdout, b"")
            if verb != "train":  # whose notes on validation are no part of the result
                self.assertEqual(result.stderr, b"")
        for name in ("out/attention.html", "e.npy", "out.safetensors", "runs/images/best.safetensors", "entities-hub/config.json"):
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_arguments_that_mean_nothing(self):
        self.refuses(["dance"], "dance")
        self.refuses(["explain", "--dance"], "--dance")
        self.refuses(["explain", "--threads", "many"], "--threads")
        self.refuses(["explain", "--threads", "-1"], "--threads")
        self.refuses(["explain", "one.json", "two.json"], "two.json")
        self.refuses(["info", "two\nlines.npy"], "two lines.npy")
        self.refuses(["run", "q.npy", "--window=", "--align", "top_left"], "--window: nothing after =, expected a value")


if __name__ == "__main__":
    unittest.main()
