# SPDX-License-Identifier: Apache-2.0
"""attn look, on a tiny model: what it prints and writes."""
import json
import os
import unittest
import xml.etree.ElementTree

from program import TINY, ProgramTest, full_disk

TEXT = "The cat saw the dog"


class Look(ProgramTest):
    def json_of(self, *arguments):
        return json.loads(self.succeeds("look", TINY, *arguments, "--json").stdout.decode())

    def test_prints_and_writes_everything(self):
        result = self.succeeds("look", TINY, TEXT)
        lines = result.stdout.decode().splitlines()
        self.assertEqual(result.stderr, b"")
        self.assertEqual(lines[0], "relu_prefix: 2 layers of 4 heads")
        self.assertRegex(lines[1], r"^\d+ tokens: \[CLS\] .* \[SEP\]$")
        self.assertTrue(any(line.startswith("layer ") and "rows are queries" in line for line in lines))
        heads = [line.split() for line in lines if line.endswith(" %")]
        self.assertEqual([head[:2] for head in heads], [[str(l), str(h)] for l in range(2) for h in range(4)])
        for head in heads:
            self.assertIn(head[2], ["self", "previous", "next", "[CLS]", "[SEP]", "other"])
        self.assertRegex(lines[-4], r"^computed in \d+\.\d{3} s on \d+ threads? \(\w+\)$")
        self.assertEqual(lines[-3:], ["out/attention.html", "out/heads.png", "out/heads.svg"])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["attention.html", "heads.png", "heads.svg"])

    def test_formats(self):
        self.succeeds("look", TINY, TEXT, "--format", "html,png,svg,pdf", "-o", "a/b/")
        self.assertIn(b"<html", self.read("a/b/attention.html")[:1000])
        self.assertTrue(self.read("a/b/heads.png").startswith(b"\x89PNG\r\n"))
        self.assertTrue(self.read("a/b/heads.pdf").startswith(b"%PDF-"))
        self.assertTrue(xml.etree.ElementTree.fromstring(self.read("a/b/heads.svg")).tag.endswith("svg"))
        self.succeeds("look", "--format", "pdf,pdf", "-o", "c", TINY, "--", "-1 cat")
        self.assertEqual(os.listdir(self.path("c")), ["heads.pdf"])

    def test_json(self):
        printed = self.json_of(TEXT)
        self.assertEqual(printed["tokens"][0], "[CLS]")
        self.assertEqual(len(printed["ids"]), len(printed["tokens"]))
        self.assertEqual(printed["files"], ["out/attention.html", "out/heads.png", "out/heads.svg"])
        self.assertEqual(len(printed["heads"]), 8)
        for head in printed["heads"]:
            self.assertAlmostEqual(sum(head["share"].values()), 1, places=5)
            self.assertEqual(head["share"][head["most"]], max(head["share"].values()))

    def test_layers_and_heads(self):
        printed = self.json_of(TEXT, "--layers", "1", "--heads", "0,2-3")
        self.assertEqual([(h["layer"], h["head"]) for h in printed["heads"]], [(1, 0), (1, 2), (1, 3)])
        whole = {(h["layer"], h["head"]): h["share"] for h in self.json_of(TEXT)["heads"]}
        for head in printed["heads"]:
            self.assertEqual(head["share"], whole[head["layer"], head["head"]])

    def test_pair(self):
        printed = self.json_of("The cat", "--pair", "saw the dog")
        self.assertEqual(printed["tokens"].count("[SEP]"), 2)
        self.assertEqual(self.json_of("", "--pair", "")["tokens"], ["[CLS]", "[SEP]", "[SEP]"])

    def test_colour_maps(self):
        pictures = set()
        for name in ("blues", "hot", "viridis"):
            self.succeeds("look", TINY, TEXT, "--cmap", name, "--format", "png")
            pictures.add(self.read("out/heads.png"))
        self.assertEqual(len(pictures), 3)

    def test_file(self):
        self.write("text.txt", "the cat\n\nthe dog\r\n")
        result = self.succeeds("look", TINY, "--file", "text.txt", "--format", "html,svg", "--json")
        printed = [json.loads(line) for line in result.stdout.decode().splitlines()]
        self.assertEqual([p["files"] for p in printed], [[f"out/attention-{i}.html", f"out/heads-{i}.svg"] for i in (1, 2, 3)])
        self.assertEqual(printed[1]["tokens"], ["[CLS]", "[SEP]"])
        self.assertEqual(printed[2]["tokens"], self.json_of("the dog")["tokens"])
        self.assertIn(b"text.txt:3\n", self.succeeds("look", TINY, "--file", "text.txt").stdout)

    def test_quiet(self):
        result = self.succeeds("look", TINY, "the " * 99, "--quiet")
        self.assertEqual((result.stdout, result.stderr), (b"", b""))
        self.assertTrue(os.path.exists(self.path("out/heads.png")))

    def test_threads_change_nothing(self):
        files = []
        for threads in ("1", "2", "7"):
            self.succeeds("look", TINY, TEXT, "--threads", threads)
            files.append([self.read("out/" + name) for name in ("attention.html", "heads.png", "heads.svg")])
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])

    def test_long_text_is_cut(self):
        notice = "text: longer than the model's 32 tokens, cut"
        result = self.gives_notice(["look", TINY, "the " * 99, "--json"], notice)
        printed = json.loads(result.stdout)
        self.assertEqual((len(printed["ids"]), printed["cut"]), (32, True))
        self.write("text.txt", "the cat\n" + "the " * 99)
        self.refuses(["look", TINY, "--file", "text.txt", "-o", "strict", "--strict"], "text.txt:2: longer than")

    def test_invalid_utf8_is_replaced(self):
        notice = "text: bytes that are not UTF-8 were read as U+FFFD"
        result = self.gives_notice(["look", TINY, b"the \xff cat", "--json"], notice)
        self.assertTrue(json.loads(result.stdout.decode())["replaced_invalid"])
        self.refuses(["look", TINY, b"the \xff cat", "--strict", "-o", "strict"], notice)


class LookRefuses(ProgramTest):
    def test_options(self):
        self.refuses(["look", TINY, TEXT, "--layers", "0-2"], "--layers: 2, expected at most 1")
        self.refuses(["look", TINY, TEXT, "--heads", "4"], "--heads: 4, expected at most 3")
        for text in ("x", "1-", "2-1", "1,,2", "-1", "99999999999"):
            self.refuses(["look", TINY, TEXT, "--layers=" + text], f'--layers: "{text}", expected numbers such as 0-2,5')
        self.refuses(["look", TINY, TEXT, "--format", "html,gif"], '--format: "gif", expected any of html,png,svg,pdf')
        self.refuses(["look", TINY, TEXT, "--format", ","], '--format: ""')
        for option in ("--format", "--layers", "--heads"):
            self.refuses(["look", TINY, TEXT, option, ""], option + ": empty, expected ")
        self.refuses(["look", TINY, TEXT, "--cmap", "jet"], "jet")
        self.refuses(["look", TINY, TEXT, "-o", ""], "--output: empty, expected a path")
        self.refuses(["look", TINY], "expected either a text, or --file")
        self.write("text.txt", "the")
        self.refuses(["look", TINY, TEXT, "--file", "text.txt"], "expected either a text, or --file")
        self.write("empty.txt", "")
        self.refuses(["look", TINY, "--file", "empty.txt"], "empty.txt: no line")
        self.refuses(["look", TINY, "--file", "none.txt"], "none.txt: cannot be opened: No such file")
        self.refuses(["look", TINY, "--file", "."], ".: a folder, expected a text file")
        self.refuses(["look", TINY, "--file", "/dev/zero"], "/dev/zero: a device, expected a text file")

    def test_places_that_cannot_be_written(self):
        self.write("file", "old")
        self.refuses(["look", TINY, TEXT, "-o", "file"], "file")
        self.refuses(["look", TINY, TEXT, "-o", "file/out"], "file/out: the folder cannot be made")
        self.refuses(["look", TINY, TEXT, "-o", "/proc/out"], "/proc/out: the folder cannot be made")
        os.makedirs(self.path("out", "heads.png"))
        self.refuses(["look", TINY, TEXT], "out/heads.png")

    def test_full_disk(self):
        self.refuses(["look", TINY, TEXT, "-o", "a/b"], "a/b/attention.html", **full_disk())
        self.write("out/heads.png", "old")
        self.refuses(["look", TINY, TEXT, "--format", "png"], "out/heads.png", **full_disk())
        self.assertEqual(self.read("out/heads.png"), b"old")

    def test_models(self):
        self.refuses(["look", "none", TEXT], "none")
        self.write("file", "text")
        self.refuses(["look", "file", TEXT], "file")
        self.write("empty/readme", "")
        self.refuses(["look", "empty", TEXT], "empty: holds neither model.safetensors nor")
        self.tiny_model()
        os.remove(self.path("model", "tokenizer.json"))
        self.refuses(["look", "model", TEXT], "tokenizer.json")

    def test_pytorch_model(self):
        self.tiny_model()
        os.rename(self.path("model", "model.safetensors"), self.path("model", "pytorch_model.bin"))
        self.refuses(["look", "model", TEXT], "pytorch_model.bin")

    def test_tokenizer_of_another_kind(self):
        self.tiny_model()
        tokenizer = json.loads(self.read("model/tokenizer.json"))
        tokenizer["model"]["type"] = "BPE"
        self.write("model/tokenizer.json", json.dumps(tokenizer))
        self.refuses(["look", "model", TEXT], 'model/tokenizer.json: model type "BPE", expected "WordPiece"')

    def test_weights(self):
        self.tiny_model()
        weights = self.read("model/model.safetensors")
        self.write("model/model.safetensors", weights[:-5])
        self.refuses(["look", "model", TEXT], "model/model.safetensors")
        key = b"encoder.layer.1.attention.self.key.weight"
        self.assertIn(key, weights)
        self.write("model/model.safetensors", weights.replace(key, key.replace(b"key", b"kay")))
        self.refuses(["look", "model", TEXT], "encoder.layer.1.attention.self.key.weight")
        self.write("model/model.safetensors", weights)
        config = json.loads(self.read("model/config.json"))
        self.write("model/config.json", json.dumps({**config, "intermediate_size": 49}))
        self.refuses(["look", "model", TEXT], "encoder.layer.0.intermediate.dense.")
        self.write("model/config.json", json.dumps({**config, "num_hidden_layers": 0}))
        self.refuses(["look", "model", TEXT], 'model/config.json: "num_hidden_layers": 0, expected at least 1')
        self.write("model/config.json", json.dumps({**config, "model_type": "gpt2"}))
        self.refuses(["look", "model", TEXT], 'model/config.json: "model_type": "gpt2"')


if __name__ == "__main__":
    unittest.main()
