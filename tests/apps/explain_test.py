# SPDX-License-Identifier: Apache-2.0
"""attn explain: the worked example to the last digit, examples of one's own, and what is no example."""
import json
import math
import unittest

from program import ProgramTest

Q, K, V = [[2, 1], [0, 1], [1, 1]], [[0, 2], [2, 0], [1, 1]], [[1, 0], [1, 2], [1, 1]]
WORKED = {"Q": Q, "K": K, "V": V, "scores": [[2, 4, 3], [2, 0, 1], [2, 2, 2]],
          "scaled": [[1.414214, 2.828427, 2.12132], [1.414214, 0, 0.707107], [1.414214] * 3],
          "weights": [[0.140029, 0.575975, 0.283995], [0.575975, 0.140029, 0.283995], [0.333333] * 3],
          "output": [[1, 1.435946], [1, 0.564054], [1, 1]]}


class Explain(ProgramTest):
    def steps(self, example):
        self.write("example.json", json.dumps(example))
        printed = json.loads(self.succeeds("explain", "example.json", "--json").stdout)
        return {step["name"]: step["value"] for step in printed["steps"]}

    def assert_close(self, found, expected):
        self.assertEqual([len(row) for row in found], [len(row) for row in expected])
        for a, b in zip(sum(found, []), sum(expected, [])):
            self.assertAlmostEqual(a, b, places=6)

    def test_worked_example(self):
        text = self.succeeds("explain").stdout.decode()
        blocks = {block.split("\n")[0].split(": ")[0]: block.split("\n")[1:] for block in text.split("\n\n")}
        for name, matrix in WORKED.items():
            self.assertEqual([[float(x) for x in row.split()] for row in blocks[name]], matrix, name)
        self.assertIn("widely copied tutorial", text)
        self.assertNotIn("tutorial", self.succeeds("explain", "--quiet").stdout.decode())
        names = [step["name"] for step in json.loads(self.succeeds("explain", "--json").stdout)["steps"]]
        self.assertEqual(names, ["X", "W_Q", "W_K", "W_V", *WORKED])

    def test_own_projections(self):
        steps = self.steps({"x": [[1, 2]], "w_q": [[1], [0]], "w_k": [[0], [1]], "w_v": [[3, 0], [0, 3]]})
        self.assertEqual((steps["Q"], steps["K"], steps["V"]), ([[1]], [[2]], [[3, 6]]))
        self.assertEqual((steps["scores"], steps["weights"], steps["output"]), ([[2]], [[1]], [[3, 6]]))

    def test_options(self):
        example = {"q": Q, "k": K, "v": V}
        self.assert_close(self.steps(example)["weights"], WORKED["weights"])
        causal = self.steps({**example, "causal": True})
        self.assertEqual(causal["masked"][0][1:], ["-inf", "-inf"])
        self.assertEqual(causal["output"][0], V[0])
        self.assert_close(self.steps({**example, "window": [None, 0]})["output"], causal["output"])
        self.assertEqual(self.steps({**example, "window": [0, 0]})["output"], V)
        self.assertEqual(self.steps({**example, "mask": [[0, 1, 0]] * 3})["output"], [V[1]] * 3)
        self.assertEqual(self.steps({**example, "bias": [["-inf", 0, "-inf"]] * 3})["output"], [V[1]] * 3)
        self.assert_close(self.steps({**example, "scale": 2})["scaled"], [[4, 8, 6], [4, 0, 2], [4, 4, 4]])
        capped = self.steps({**example, "scale": 1, "softcap": 3})["capped"]
        self.assert_close(capped, [[3 * math.tanh(x / 3) for x in row] for row in WORKED["scores"]])
        short = {**example, "q": Q[:1], "causal": True}
        self.assertEqual(self.steps({**short, "align": "top_left"})["output"], [V[0]])
        self.assert_close(self.steps({**short, "align": "bottom_right"})["output"], WORKED["output"][:1])

    def test_nan_has_no_sign(self):
        steps = self.steps({"q": [[1e308, 1e308]], "k": [[1e308, 0], [1, 1]], "v": [[1], [2]]})
        self.assertEqual(steps["output"], [["nan"]])
        self.assertNotIn("-nan", self.succeeds("explain", "example.json").stdout.decode())

    def test_huge_numbers_are_short(self):
        self.write("example.json", json.dumps({"q": [[1e308]], "k": [[1]], "v": [[-1e308]], "scale": 0}))
        text = self.succeeds("explain", "example.json").stdout.decode()
        self.assertIn("Q: given\n    1e+308\n", text)
        self.assertIn("output: weights V\n    -1e+308\n", text)

    def test_tokens_and_note(self):
        self.write("example.json", json.dumps({"q": Q, "k": K, "v": V, "tokens": ["a", "小", "c"], "note": "Look here."}))
        text = self.succeeds("explain", "example.json").stdout.decode()
        self.assertTrue(text.startswith("tokens: a, 小, c\n\n"), text)
        self.assertTrue(text.endswith("\nLook here.\n"), text)


class ExplainRefuses(ProgramTest):
    def refuses_example(self, example, sentence):
        content = example if isinstance(example, (bytes, str)) else json.dumps(example)
        self.refuses(["explain", self.write("example.json", content)], sentence)

    def test_files(self):
        self.refuses(["explain", "none.json"], "none.json: cannot be opened: No such file")
        self.refuses(["explain", "."], ".: a folder, expected a text file")
        self.refuses(["explain", "/dev/zero"], "/dev/zero: a device, expected a text file")
        with open(self.path("large.json"), "wb") as file:
            file.truncate((1 << 24) + 1)
        self.refuses(["explain", "large.json"], "large.json: larger than the 16777216 bytes it may have")
        self.refuses(["explain", "/dev/stdin"], "/dev/stdin: larger than the 16777216 bytes it may have", input=bytes((1 << 24) + 1))
        self.refuses_example("{", "example.json: not valid JSON at byte 1, where it ends")
        self.refuses_example('{"q": [[1 2]]}', 'example.json: not valid JSON at byte 10, where "2" stands')
        self.refuses_example(b"\xff\x00", "example.json: not valid JSON at byte")
        self.refuses_example('{"note": "\xff"}'.encode("latin-1"), "example.json: not valid JSON at byte")
        self.refuses_example([1, 2], "example.json: found an array, expected an object")
        self.refuses_example(json.dumps({"q": Q, "k": K, "v": V}) + "\0x", "example.json: not valid JSON at byte")
        self.refuses_example('{"q": [[' + "[" * 200000 + "]" * 200000 + "]]}", "example.json: JSON nested deeper than 100")
        self.refuses_example('{"q": [[1]], "q": [[2]], "k": [[1]], "v": [[1]]}', 'example.json: the name "q" occurs twice')
        self.refuses(["explain", ""], "example: empty, expected a path")

    def test_long_contents_make_short_messages(self):
        long = "x" * 100000
        for content in ({long: 1}, {"q": [[long]], "k": K, "v": V}, '{"q": "' + long):
            self.refuses_example(content, "example.json")
            self.assertLess(len(self.attn("explain", "example.json").stderr), 500)

    def test_contents(self):
        whole = {"q": Q, "k": K, "v": V}
        self.refuses_example({**whole, "window_size": 3}, '"window_size": an unknown key, expected x, w_q, ')
        self.refuses_example({"q": Q, "k": K}, "v")
        self.refuses_example({}, "example.json")
        self.refuses_example({**whole, "q": [1, 2]}, '"q": [1,2], expected a list of rows of numbers')
        self.refuses_example({**whole, "q": [[1, 2], [3]]}, '"q": row 1 is [3], expected 2 numbers as in the first')
        self.refuses_example({**whole, "q": [[1, "x"]]}, '"q": "x", expected a number')
        self.refuses_example({**whole, "k": [[1, 2, 3]] * 3}, "example.json: k: head dim 3, expected 2 as in q")
        self.refuses_example({**whole, "q": Q[:1], "causal": True},
                             'example.json: "align": not given, expected "top_left" or "bottom_right" for 1 queries and 3 keys')
        self.refuses_example({**whole, "tokens": ["a", "b"]}, "example.json: tokens: 2, expected 3 as there are queries")
        self.refuses_example({**whole, "mask": [[1, 0]]}, "mask")
        self.refuses_example({**whole, "causal": 1}, '"causal": 1, expected true or false')
        self.refuses_example({**whole, "w_q": Q}, "expected either x with w_q, w_k and w_v, or q, k and v")
        self.refuses_example({**whole, "align": ""}, '"align": "", expected "top_left" or "bottom_right"')
        self.refuses_example({**whole, "align": "left"}, '"align": "left", expected "top_left" or "bottom_right"')
        self.refuses_example({**whole, "window": [1]}, '"window": [1], expected [left, right]')
        self.refuses_example({**whole, "window": [1, -1]}, '"window": [1,-1], expected [left, right]')
        self.refuses_example({**whole, "softcap": 0}, "softcap: 0, expected")
        self.refuses_example({**whole, "scale": "big"}, '"scale": "big", expected a number')
        self.refuses_example({**whole, "tokens": "abc"}, '"tokens": "abc", expected a list of texts')


if __name__ == "__main__":
    unittest.main()
