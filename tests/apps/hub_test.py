# SPDX-License-Identifier: Apache-2.0
"""attn export: the program opens its own folders again, and transformers gives the same outputs from them."""
import json
import os
import struct
import subprocess
import sys
import unittest

import train_data
from program import REPOSITORY, ProgramTest

TASKS = {
    "reviews": ("characters", ["这本书好", "我 的人坏z书"]),
    "tagging": ("words", ["我们 看 世界", "我们好 xyz  看 。"]),
    "entities": ("characters", ["王明去北京", "北京的王明z去"]),
}


def transformers_python():
    """A Python that has torch and transformers: ATTN_TORCH_PYTHON, that of script/bench, or this one; None without."""
    cache = os.environ.get("ATTN_CACHE", os.path.join(REPOSITORY, ".cache"))
    found = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('transformers')))"
    for python in (os.environ.get("ATTN_TORCH_PYTHON"), os.path.join(cache, "bench/venv/bin/python"), sys.executable):
        if python and os.path.exists(python) and subprocess.run([python, "-c", found]).returncode == 0:
            return python
    return None


def numbers_of(npy):
    """All f32 of a .npy file of version 1."""
    start = 10 + struct.unpack_from("<H", npy, 8)[0]
    return struct.unpack(f"<{(len(npy) - start) // 4}f", npy[start:])


class Hub(ProgramTest):
    def export(self, task):
        train_data.write(self.path("data", task), task)
        recipe = {"task": task, "data": f"data/{task}", "tokens": {"kind": TASKS[task][0]},
                  "model": {"width": 16, "layers": 2, "heads": 2, "feedforward": 32, "max_tokens": 24},
                  "training": {"steps": 30, "batch": 16, "learning_rate": 1e-2, "warmup": 5}}
        self.succeeds("train", self.write(f"{task}.json", json.dumps(recipe)), "--quiet")
        printed = self.succeeds("export", f"runs/{task}", "-o", f"hub/{task}").stdout
        self.assertEqual(printed, f"hub/{task}\n".encode())

    def embeddings(self, task):
        self.succeeds("embed", f"hub/{task}", "--file", self.write("texts", "\n".join(TASKS[task][1])), "-o", "e.npy")
        return numbers_of(self.read("e.npy"))

    def test_the_program_opens_what_it_exports(self):
        self.export("entities")
        seen = json.loads(self.succeeds("look", "hub/entities", "王明去北京", "--json", "-o", "out").stdout)
        self.assertEqual(seen["tokens"], list("王明去北京"))
        self.assertEqual(len(self.embeddings("entities")), 2 * 16)

    def test_transformers_gives_the_same_outputs(self):
        python = transformers_python()
        if python is None:
            self.skipTest("no torch and transformers; ATTN_TORCH_PYTHON names a Python that has them")
        for task in TASKS:
            self.export(task)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hub_outputs.py")
        texts = {task: texts for task, (_, texts) in TASKS.items()}
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_MODULES_CACHE": self.path("modules")}
        result = subprocess.run([python, "-B", script, self.path("hub"), json.dumps(texts)], capture_output=True,
                                env=environment, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        found = json.loads(result.stdout)
        for task in TASKS:
            with self.subTest(task):
                own = self.embeddings(task)
                theirs = [x for row in found[task]["embeddings"] for x in row]
                self.assertEqual(len(own), len(theirs))
                for a, b in zip(own, theirs):
                    self.assertAlmostEqual(a, b, delta=1e-5)
                predicted = self.succeeds("predict", f"runs/{task}", *TASKS[task][1]).stdout.decode().splitlines()
                self.assertEqual([[word.split("/")[-1] for word in line.split(" ")] for line in predicted], found[task]["labels"])

    def test_refuses_what_is_no_text_encoder(self):
        train_data.write(self.path("data/language"), "language")
        recipe = {"task": "language", "data": "data/language", "tokens": {"kind": "pieces", "max_size": 60},
                  "model": {"width": 8, "layers": 1, "heads": 1, "feedforward": 8, "max_tokens": 24},
                  "training": {"steps": 2, "warmup": 0}}
        self.succeeds("train", self.write("language.json", json.dumps(recipe)), "--quiet")
        self.refuses(["export", "runs/language", "-o", "hub"], "language, expected reviews, tagging or entities")
        self.refuses(["export", "nowhere", "-o", "hub"], "nowhere")


if __name__ == "__main__":
    unittest.main()
