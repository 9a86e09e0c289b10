# SPDX-License-Identifier: Apache-2.0
"""attn train, eval and predict on small data: every task learns, and a run survives being killed."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

import train_data
from program import PROGRAM, ProgramTest, full_disk

TOKENS = {
    "images": None,
    "reviews": {"kind": "characters"},
    "tagging": {"kind": "words"},
    "entities": {"kind": "characters"},
    "translation": {"kind": "pieces", "max_size": 60},
    "language": {"kind": "pieces", "max_size": 60},
}


def recipe(task, **training):
    made = {
        "task": task,
        "data": f"data/{task}",
        "model": {"width": 16, "layers": 1, "heads": 2, "feedforward": 32, "dropout": 0.1, "patch": 7, "max_tokens": 24},
        "training": {"steps": 40, "batch": 16, "learning_rate": 1e-2, "warmup": 5, "evaluate_every": 20,
                     "checkpoint_every": 10, **training},
    }
    if TOKENS[task]:
        made["tokens"] = TOKENS[task]
    return made


class Train(ProgramTest):
    def prepare(self, task, **training):
        train_data.write(self.path("data", task), task)
        return self.write(f"{task}.json", json.dumps(recipe(task, **training)))

    def metrics(self, folder):
        return [json.loads(line) for line in self.read(os.path.join(folder, "metrics.jsonl")).splitlines()]

    def test_every_task_learns(self):
        inputs = {"reviews": "这本书好", "tagging": "我们 看 世界", "entities": "王明去北京", "translation": "one and two",
                  "language": "the cat"}
        for task in TOKENS:
            with self.subTest(task):
                self.succeeds("train", self.prepare(task), "--quiet")
                folder = f"runs/{task}"
                losses = [line["loss"] for line in self.metrics(folder) if "loss" in line]
                self.assertEqual(len(losses), 40)
                self.assertLess(sum(losses[-5:]), 0.8 * sum(losses[:5]))
                self.assertTrue(self.read(f"{folder}/loss.png").startswith(b"\x89PNG"))
                scores = json.loads(self.succeeds("eval", folder, "--json").stdout)["scores"]
                self.assertTrue(scores)
                text = inputs.get(task)
                if text is None:
                    text = self.write("one.npy", train_data.npy((28, 28), [0] * 784))
                answer = json.loads(self.succeeds("predict", folder, text, "--json").stdout)
                self.assertEqual(answer["input"], text)
                self.assertIsInstance(answer["output"], str)

    def test_every_precision_follows_the_same_curve(self):
        """Weights stay f32, so that evaluation and resumption know nothing of it."""
        curves = {}
        for precision in ("f32", "bf16", "f16"):
            name = self.prepare("translation", steps=10, warmup=2, precision=precision)
            self.succeeds("train", name, "-o", precision, "--quiet")
            self.succeeds("eval", precision, "--json")
            curves[precision] = [line["loss"] for line in self.metrics(precision) if "loss" in line]
        for precision, roundings in (("bf16", 4 / 256), ("f16", 4 / 2048)):
            self.assertNotEqual(curves[precision], curves["f32"])
            for found, expected in zip(curves[precision], curves["f32"]):
                self.assertAlmostEqual(found, expected, delta=roundings * expected)

    def final_state(self, folder):
        return self.read(f"{folder}/checkpoint.safetensors"), self.read(f"{folder}/best.safetensors")

    def wait_for_checkpoints(self, process, folder, count):
        """Until so many have been written, or the process has ended: a machine's speed decides nothing."""
        def mark():
            try:
                state = os.stat(self.path(folder, "checkpoint.safetensors"))
            except FileNotFoundError:
                return None
            return state.st_ino, state.st_mtime_ns

        last = mark()
        while count > 0 and process.poll() is None:
            now = mark()
            if now == last:
                time.sleep(0.0005)
            else:
                last, count = now, count - 1

    def test_killed_at_any_moment_it_resumes_to_the_same_weights(self):
        """With a checkpoint in each step, some of the kills fall into the writing of one."""
        name = self.prepare("tagging", steps=60, checkpoint_every=1)
        self.succeeds("train", name, "-o", "whole", "--quiet")
        chance = random.Random(3)
        kills = 0
        while True:
            process = subprocess.Popen([PROGRAM, "train", name, "-o", "killed", "--resume", "--quiet"], cwd=self.folder)
            self.wait_for_checkpoints(process, "killed", chance.randint(1, 8))
            time.sleep(chance.uniform(0, 0.01))  # into any part of a step, or of the writing of its checkpoint
            if process.poll() is not None:
                self.assertEqual(process.returncode, 0)
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        self.assertGreater(kills, 1)
        self.assertEqual(self.final_state("killed"), self.final_state("whole"))
        steps = [line["step"] for line in self.metrics("killed") if "loss" in line]
        self.assertEqual(steps, list(range(1, 61)))

    def test_refuses_before_any_work(self):
        name = self.prepare("images")
        cases = [
            ({"model": {"width": 15, "heads": 2}}, "width 15, expected a multiple of heads, 2"),
            ({"model": {"dropout": 1.5}}, "found 1.5, expected 0 up to below 1"),
            ({"training": {"step": 3}}, 'unknown key "step"'),
            ({"data": "nowhere"}, "nowhere"),
        ]
        for change, sentence in cases:
            broken = {**recipe("images"), **change}
            self.write("broken.json", json.dumps(broken))
            self.refuses(["train", "broken.json"], sentence)
        self.write("data/images/train.labels.npy", train_data.npy((200,), [10] * 200))
        self.refuses(["train", name], "label 10, expected 0 to 9")
        self.write("data/reviews/train.jsonl", "")
        self.refuses(["train", self.write("r.json", json.dumps(recipe("reviews")))], "no examples")

    def test_pictures_of_a_translation(self):
        self.succeeds("train", self.prepare("translation", steps=2, warmup=0), "--quiet")
        lines = self.succeeds("predict", "runs/translation", "--picture", "held-out").stdout.decode().splitlines()
        self.assertEqual(lines[::3], [f"held-out/cross-{i}.png" for i in range(1, 11)])
        texts = [json.loads(line)["source"] for line in self.read("data/translation/test.jsonl").splitlines()]
        self.assertEqual([line.strip() for line in lines[1::3]], texts[::len(texts) // 10][:10])
        self.assertEqual(len(os.listdir(self.path("held-out"))), 20)
        given = json.loads(self.succeeds("predict", "runs/translation", "one two", "--picture", "given", "--json").stdout)
        self.assertEqual((given["input"], given["picture"]), ("one two", "given/cross-1.png"))
        self.assertEqual(given["output"] + "\n", self.succeeds("predict", "runs/translation", "one two").stdout.decode())
        self.assertTrue(self.read("given/cross-1.png").startswith(b"\x89PNG"))
        self.assertIn(b"</svg>", self.read("given/cross-1.svg"))
        self.succeeds("train", self.prepare("reviews", steps=2, warmup=0), "--quiet")
        self.refuses(["predict", "runs/reviews", "--picture", "given"], "the task is reviews, expected translation")

    def test_a_folder_belongs_to_one_run(self):
        name = self.prepare("reviews", steps=2, warmup=0)
        self.succeeds("train", name, "--quiet")
        self.refuses(["train", name], "holds an earlier run")
        self.succeeds("train", name, "--quiet", "--resume")
        self.prepare("reviews", steps=3, warmup=0)
        self.refuses(["train", name, "--resume"], "differs from runs/reviews/recipe.json")

    def test_a_full_disk_leaves_the_older_checkpoint(self):
        name = self.prepare("reviews", steps=2, warmup=0, checkpoint_every=2)
        self.succeeds("train", name, "--quiet")
        before = self.read("runs/reviews/checkpoint.safetensors")
        result = self.attn("train", name, "-o", "full", **full_disk(20000))
        self.assertEqual(result.returncode, 2)
        self.assertIn("full/", result.stderr.decode())
        self.assertEqual(self.read("runs/reviews/checkpoint.safetensors"), before)

    def test_weights_of_another_model(self):
        name = self.prepare("reviews", steps=2, warmup=0)
        self.succeeds("train", name, "--quiet")
        changed = recipe("reviews")
        changed["model"]["width"] = 20
        self.write("runs/reviews/recipe.json", json.dumps(changed))
        self.refuses(["eval", "runs/reviews"], "does not fit the model; misshapen: ")


if __name__ == "__main__":
    unittest.main()
