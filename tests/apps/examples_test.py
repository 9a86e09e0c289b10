# SPDX-License-Identifier: Apache-2.0
"""The programs in examples/ print what they say."""
import json
import math
import os
import re
import subprocess

import unittest

import train_data
from files import safetensors_bytes
from program import TINY, ProgramTest

EXAMPLES = os.environ["ATTN_EXAMPLES"]


def run(name, *arguments):
    return subprocess.run([os.path.join(EXAMPLES, name), *arguments], capture_output=True, text=True, timeout=60)


def softmax(scores):
    largest = max(scores)
    powers = [math.exp(x - largest) for x in scores]
    return [x / sum(powers) for x in powers]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


class Examples(ProgramTest):
    def lines_of(self, name, *arguments):
        result = run(name, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()

    def test_self_attention(self):
        self.assertEqual(self.lines_of("self_attention"), [
            "token 0 looks at (0.140029, 0.575975, 0.283995) and becomes (1.000000, 1.435946)",
            "token 1 looks at (0.575975, 0.140029, 0.283995) and becomes (1.000000, 0.564054)",
            "token 2 looks at (0.333333, 0.333333, 0.333333) and becomes (1.000000, 1.000000)"])

    def test_cross_attention(self):
        lines = self.lines_of("cross_attention")
        self.assertEqual(len(lines), 4)
        heads, key_heads, dim = 8, 2, 16
        for i, line in enumerate(lines):  # head 0 of each query reads head 0 of the keys
            query = [math.sin(0.1 * (i * heads * dim + d)) for d in range(dim)]
            keys = [[math.cos(0.2 * (j * key_heads * dim + d)) for d in range(dim)] for j in range(6)]
            scores = [dot(query, key) / 4 for key in keys]
            out = dot(softmax(scores), [j * key_heads % 6 for j in range(6)])
            lse = math.log(sum(map(math.exp, scores)))
            found = [float(x) for x in re.fullmatch(rf"query {i}: out\[0\] = (\S+), log of the denominator = (\S+)", line).groups()]
            self.assertAlmostEqual(found[0], out, delta=2e-4)
            self.assertAlmostEqual(found[1], lse, delta=2e-4)

    def test_learn_attention(self):
        losses = [float(re.fullmatch(r"step +\d+  loss (\S+)", line).group(1)) for line in self.lines_of("learn_attention")]
        self.assertEqual(len(losses), 6)
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertLess(losses[-1], losses[0] / 2)

    def test_own_op(self):
        for line in self.lines_of("own_op"):
            found, by_hand = re.fullmatch(r"d\(x sin x\)/dx at \d: (\S+), by hand (\S+)", line).groups()
            self.assertEqual(found, by_hand)

    def test_why_scale(self):
        rows = [line.split() for line in self.lines_of("why_scale")[2:]]
        self.assertEqual(len(rows), 12)
        scaled, raw = [[float(row[column]) for row in rows] for column in (1, 2)]
        # Saturated softmaxes let the gradient grow from layer to layer on its way back.
        self.assertLess(max(scaled), 1)
        self.assertGreater(max(raw), 1000 * max(scaled))

    def test_training_makes_the_loss_fall(self):
        train_data.write(self.path("images"), "images")
        train_data.write(self.path("tagging"), "tagging")
        recipe = {"task": "tagging", "data": self.path("tagging"), "tokens": {"kind": "words"},
                  "model": {"width": 16, "layers": 1, "heads": 2, "feedforward": 32, "max_tokens": 24},
                  "training": {"steps": 40, "batch": 16, "learning_rate": 1e-2, "warmup": 5}}
        self.write("recipe.json", json.dumps(recipe))
        for arguments in (["train_images", self.path("images"), "30"],
                          ["train_recipe", self.path("recipe.json"), self.path("run")]):
            lines = self.lines_of(*arguments)
            losses = [float(x) for x in re.findall(r"loss (\S+)", "\n".join(lines))]
            self.assertGreater(len(losses), 1)
            self.assertLess(losses[-1], 0.7 * losses[0], arguments)
        self.assertRegex(lines[-1], r"^accuracy on held-out data: [01]\.\d{4}$")

    def test_each_text_task_learns(self):
        judgements = {
            "reviews": (20, r"accuracy on held-out reviews: [01]\.\d{4}"),
            "tagging": (20, r"accuracy on held-out words: [01]\.\d{4}"),
            "entities": (15, r"held-out names: F1 [01]\.\d{4} \(precision [01]\.\d{4}, recall [01]\.\d{4}\)"),
            "translation": (15, r"BLEU of 20 held-out verses: \d+\.\d\d"),
            "language": (8, r"bits per held-out character: \d\.\d{4}"),
        }
        for task, (steps, judgement) in judgements.items():
            with self.subTest(task):
                train_data.write(self.path(task), task, 80)
                lines = self.lines_of(f"train_{task}", self.path(task), str(steps))
                losses = [float(x) for x in re.findall(r"^step \d+: loss (\S+)$", "\n".join(lines), re.MULTILINE)]
                self.assertEqual(len(losses), 2)
                self.assertLess(losses[-1], 0.8 * losses[0])
                self.assertRegex(lines[-1], f"^{judgement}$")

    def test_masks(self):
        visible = {
            "causal, first query at the first key": lambda i, j: j <= i,
            "causal, last query at the last key": lambda i, j: j <= i + 3,
            "a window of 2 before and 1 after": lambda i, j: i - 2 <= j <= i + 1,
            "causal, but 2 tokens of prefix for all": lambda i, j: j <= i or j < 2,
            "causal, and 6 keys of a padded text": lambda i, j: j <= i + 1 and j < 6,
        }
        expected = []
        for name, sees in visible.items():
            expected.append(name)
            expected += ["  " + "".join("#" if sees(i, j) else "." for j in range(8)) for i in range(5)]
        self.assertEqual(self.lines_of("masks"), expected)

    def test_multi_head(self):
        # Two heads of dim 2 over three unit vectors; weights as PyTorch stores them, (out, in).
        width = 4
        weight = [[math.sin(1 + r * width + c) for c in range(width)] for r in range(3 * width)]
        bias = [0.1 * r for r in range(3 * width)]
        out = [[math.cos(r * width + c) for c in range(width)] for r in range(width)]
        self.write("mha.safetensors", safetensors_bytes({
            "layer.in_proj_weight": weight, "layer.in_proj_bias": bias, "layer.out_proj.weight": out, "layer.out_proj.bias": [0.5] * width}))
        lines = self.lines_of("multi_head", self.path("mha.safetensors"), "layer.")
        x = [[float(i == c) for c in range(width)] for i in range(3)]
        projected = [[dot(weight[r], row) + bias[r] for r in range(3 * width)] for row in x]
        for i, line in enumerate(lines):
            mean, joined = [0.0] * 3, []
            for head in range(2):
                at = 2 * head
                scores = [dot(projected[i][at : at + 2], projected[j][width + at : width + at + 2]) / math.sqrt(2) for j in range(3)]
                weights = softmax(scores)
                mean = [m + w / 2 for m, w in zip(mean, weights)]
                joined += [dot(weights, [projected[j][2 * width + at + c] for j in range(3)]) for c in range(2)]
            numbers = [*mean, dot(out[0], joined) + 0.5]
            found = [float(n) for n in re.findall(r"-?\d+\.\d+", line)]
            self.assertEqual(len(found), 4, line)
            for a, b in zip(found, numbers):
                self.assertAlmostEqual(a, b, delta=2e-4)
        self.assertEqual(len(lines), 3)

    def test_look_at_a_model(self):
        lines = self.lines_of("look_at_a_model", TINY, "the cat")
        self.assertTrue(lines[0].startswith("[CLS] the cat"), lines[0])
        self.assertEqual(len(lines), 1 + 8 + 1)
        self.assertRegex(lines[1], r"^layer  0 head  0: [ \d]\d\.\d % of its weight on \S+$")
        self.assertRegex(lines[-1], r"^0\.\d{4}$")

    def test_usage(self):
        for name in ("look_at_a_model", "multi_head"):
            result = run(name)
            self.assertEqual(result.returncode, 2)
            self.assertIn("usage: " + name, result.stderr)


if __name__ == "__main__":
    unittest.main()
