# SPDX-License-Identifier: Apache-2.0
"""attn run: the numbers, the shapes of results, and every input that must be refused."""
import json
import math
import unittest

from files import npy_bytes, read_npy, read_safetensors, safetensors_bytes, with_header
from program import ProgramTest, full_disk

# The worked example of the documentation.
Q, K, V = [[2, 1], [0, 1], [1, 1]], [[0, 2], [2, 0], [1, 1]], [[1, 0], [1, 2], [1, 1]]
OUT = [1, 1.435946, 1, 0.564054, 1, 1]
WEIGHTS = [0.140029, 0.575975, 0.283995, 0.575975, 0.140029, 0.283995, 1 / 3, 1 / 3, 1 / 3]


def example(**more):
    return {"q": Q, "k": K, "v": V, **more}


class Run(ProgramTest):
    def out_of(self, *options, tensors=None, dtypes=None):
        self.write("qkv.safetensors", safetensors_bytes(tensors or example(), dtypes))
        self.succeeds("run", "qkv.safetensors", "-o", "out.safetensors", "--quiet", *options)
        return read_safetensors(self.path("out.safetensors"))

    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, places=5)

    def test_worked_example(self):
        result = self.out_of("--weights", "--lse")
        self.assertEqual(sorted(result), ["lse", "out", "weights"])
        self.assertEqual(result["out"][0], [3, 2])
        self.assertEqual(result["lse"][0], [3])
        self.assert_close(result["out"][1], OUT)
        self.assert_close(result["weights"][1], WEIGHTS)
        scores = [x / math.sqrt(2) for x in (2, 4, 3)]
        self.assertAlmostEqual(result["lse"][1][0], math.log(sum(map(math.exp, scores))), places=5)

    def test_rank_is_kept(self):
        for wrap in (lambda x: [x], lambda x: [[x]]):
            result = self.out_of(tensors={name: wrap(x) for name, x in example().items()})
            self.assertEqual(result["out"][0], [1] * (len(result["out"][0]) - 2) + [3, 2])
            self.assert_close(result["out"][1], OUT)

    def test_options_reach_the_call(self):
        causal = self.out_of("--causal")["out"][1]
        self.assert_close(causal[:2], V[0])
        self.assert_close(self.out_of("--window", "0,0")["out"][1], [x for row in V for x in row])
        self.assert_close(self.out_of("--window", "inf,0")["out"][1], causal)
        self.assert_close(self.out_of("--scale", "0")["out"][1], [1, 1] * 3)
        self.assertNotEqual(self.out_of("--softcap", "0.5")["out"][1], self.out_of()["out"][1])
        short = example(q=[Q[2]])
        self.assert_close(self.out_of("--causal", "--align", "top_left", tensors=short)["out"][1], V[0])
        self.assert_close(self.out_of("--causal", "--align", "bottom_right", tensors=short)["out"][1], OUT[4:])

    def test_options_may_come_first(self):
        self.write("qkv.safetensors", safetensors_bytes(example()))
        self.succeeds("run", "--window", "0,0", "-o", "out.safetensors", "--scale", "2", "qkv.safetensors")
        self.assert_close(read_safetensors(self.path("out.safetensors"))["out"][1], [x for row in V for x in row])

    def test_optional_tensors(self):
        mask = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        flat = [x for row in V for x in row]
        self.assert_close(self.out_of(tensors=example(mask=mask), dtypes={"mask": "BOOL"})["out"][1], flat)
        bias = [[0.0 if x else -math.inf for x in row] for row in mask]
        self.assert_close(self.out_of(tensors=example(bias=bias))["out"][1], flat)
        self.assert_close(self.out_of(tensors=example(lengths=[1]), dtypes={"lengths": "I64"})["out"][1], V[0] * 3)
        sink = self.out_of("--weights", tensors=example(sink=[100.0]))
        self.assert_close(sink["weights"][1], [0] * 9)

    def test_npy(self):
        for name, values in example().items():
            self.write(name + ".npy", npy_bytes(values))
        self.succeeds("run", "q.npy", "k.npy", "v.npy", "-o", "out.npy", "--lse", "--weights")
        self.assert_close(read_npy(self.path("out.npy"))[1], OUT)
        self.assertEqual(read_npy(self.path("out.lse.npy"))[0], [3])
        self.assert_close(read_npy(self.path("out.weights.npy"))[1], WEIGHTS)

    def test_json(self):
        self.write("qkv.safetensors", safetensors_bytes(example()))
        result = self.succeeds("run", "qkv.safetensors", "-o", "out.safetensors", "--json")
        printed = json.loads(result.stdout)
        self.assertEqual(printed["out"]["shape"], [3, 2])
        self.assertEqual(printed["files"], ["out.safetensors"])

    def test_non_finite_input_is_a_notice(self):
        self.write("qkv.safetensors", safetensors_bytes(example(k=[[0, 2], [math.nan, 0], [1, math.inf]])))
        result = self.succeeds("run", "qkv.safetensors", "-o", "out.safetensors")
        self.assertIn(b"k[1, 0]: nan", result.stderr)
        self.refuses(["run", "qkv.safetensors", "-o", "strict.safetensors", "--strict"], "k[1, 0]: nan")

    def test_the_first_of_many_is_named(self):
        for dtype in ("F32", "F64"):
            q = [[[0.0, 1.0], [2.0, 3.0]], [[4.0, math.inf], [math.nan, 7.0]]]
            self.write("qkv.safetensors", safetensors_bytes({"q": q, "k": q, "v": q}, {"q": dtype}))
            result = self.succeeds("run", "qkv.safetensors", "-o", "out.safetensors")
            self.assertIn(b"attn: qkv.safetensors: q[1, 0, 1]: inf, expected finite numbers\n", result.stderr)

    def test_minus_infinity_in_a_bias_is_meant(self):
        for value, notices in ((-math.inf, b""), (math.nan, b"attn: qkv.safetensors: bias[0, 1]: nan, expected finite numbers\n")):
            self.write("qkv.safetensors", safetensors_bytes(example(bias=[[0, value, 0]] * 3)))
            self.assertEqual(self.succeeds("run", "qkv.safetensors", "-o", "out.safetensors").stderr, notices)

    def test_threads_change_nothing(self):
        results = [self.out_of("--threads", n)["out"] for n in ("1", "2", "7")]
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], results[2])


class RunRefuses(ProgramTest):
    def refuses_file(self, content, sentence, *options):
        self.write("qkv.safetensors", content)
        self.refuses(["run", "qkv.safetensors", "-o", "out.safetensors", *options], sentence)

    def test_broken_files(self):
        whole = safetensors_bytes(example())
        header = {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}

        def of(**entries):
            return with_header(json.dumps({name: {**header, **entry} for name, entry in entries.items()}).encode(), b"\0" * 24)

        self.refuses_file(whole[:-3], "qkv.safetensors")
        self.refuses_file(b"", "qkv.safetensors")
        self.refuses_file(with_header(b"{}", b"", length=10**9), "header")
        self.refuses_file(with_header(b"{", b""), "JSON")
        self.refuses_file(of(q={}, k={"data_offsets": [4, 12]}, v={"data_offsets": [12, 20]}), '"k"')
        self.refuses_file(of(q={}, k={"data_offsets": [8, 16]}, v={"data_offsets": [16, 32]}), '"v"')
        self.refuses_file(of(q={"dtype": "Q7"}, k={"data_offsets": [8, 16]}, v={"data_offsets": [16, 24]}), "Q7")
        self.refuses(["run", "none.safetensors", "-o", "out.safetensors"], "none.safetensors")
        self.refuses(["run", ".", "-o", "out.safetensors"], "expected a file that ends in")

    def test_tensors_that_do_not_fit(self):
        self.refuses_file(safetensors_bytes({"q": Q, "k": K}), '"v": absent')
        self.refuses_file(safetensors_bytes(example(queries=Q)), '"queries": no input of this name')
        self.refuses_file(safetensors_bytes(example(k=[[1, 2, 3]] * 3)), "k: head dim 3, expected 2 as in q")
        self.refuses_file(safetensors_bytes(example(q=[1.0, 2.0])), '"q": rank 1, expected 2 to 4')
        self.refuses_file(safetensors_bytes(example(), {"q": "I32", "k": "I32", "v": "I32"}), "q: dtype i32, expected f32")
        self.refuses_file(safetensors_bytes(example(mask=[[1.0] * 3] * 3)), "mask: keep: dtype f32, expected boolean or u8")
        self.refuses_file(safetensors_bytes(example(lengths=[9]), {"lengths": "I32"}), "lengths[0]: 9, expected at most the 3 keys")
        self.refuses_file(safetensors_bytes(example(sink=[0.0, 0.0])), "sink: shape (2), expected (1) for the heads of q")
        twice = [[[[1.0] * 3] * 3]] * 2
        self.refuses_file(safetensors_bytes(example(bias=twice)), "bias: extent 2 of dimension 0 (batch), expected 1\n")

    def test_options_that_do_not_fit(self):
        short = safetensors_bytes(example(q=[Q[0]]))
        self.refuses_file(short, "--align: not given, expected top_left or bottom_right for 1 queries and 3 keys", "--causal")
        whole = safetensors_bytes(example())
        self.refuses_file(whole, "softcap: 0, expected a number above 0", "--softcap", "0")
        self.refuses_file(whole, "scale: nan, expected a finite number", "--scale", "nan")
        for window in ("-1,0", "1", "1,2,3", "1,", "x,0", ",", "99999999999999999999,0"):
            self.refuses_file(whole, f'--window: "{window}", expected LEFT,RIGHT', "--window=" + window)
        self.refuses_file(whole, "--align", "--align", "middle")
        self.refuses_file(whole, "--threads", "--threads", "-1")
        self.refuses_file(whole, "--nonsense", "--nonsense")

    def test_places_that_cannot_be_written(self):
        self.write("qkv.safetensors", safetensors_bytes(example()))
        self.refuses(["run", "qkv.safetensors", "-o", "none/out.safetensors"], "none/out.safetensors")
        self.refuses(["run", "qkv.safetensors", "-o", "qkv.safetensors/out.npy"], "qkv.safetensors/out.npy")
        self.refuses(["run", "qkv.safetensors", "-o", "out.txt"], "out.txt: expected a name that ends in")

    def test_full_disk_leaves_the_old_file(self):
        self.write("qkv.safetensors", safetensors_bytes({name: [[float(i)] * 64] * 64 for i, name in enumerate("qkv")}))
        self.write("out.safetensors", b"old")
        self.refuses(["run", "qkv.safetensors", "-o", "out.safetensors"], "out.safetensors", **full_disk())
        self.assertEqual(self.read("out.safetensors"), b"old")

    def test_full_disk_leaves_none_of_several_files(self):
        # out is small, the weights are not.
        self.write("qkv.safetensors", safetensors_bytes({name: [[float(i)]] * 64 for i, name in enumerate("qkv")}))
        self.refuses(["run", "qkv.safetensors", "-o", "out.npy", "--weights"], "out.weights.npy", **full_disk())


if __name__ == "__main__":
    unittest.main()
