# SPDX-License-Identifier: Apache-2.0
"""script/check-symbols must find exports outside attn and weak functions on wide registers."""
import importlib.machinery
import importlib.util
import pathlib
import platform
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "script" / "check-symbols"
ADD = "inline void add(float* x) { for (int i = 0; i < 64; ++i) x[i] += 1; }"


def load():
    loader = importlib.machinery.SourceFileLoader("check_symbols", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_symbols", loader))
    loader.exec_module(module)
    return module


check_symbols = load()


class CheckSymbols(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compiled(self, code, *flags):
        source = pathlib.Path(self.folder.name) / "x.cpp"
        made = source.with_suffix(".o")
        source.write_text(code, encoding="utf-8")
        subprocess.run(["g++", "-std=c++20", "-O3", "-fPIC", *flags, source, "-o", made], check=True)
        return made

    def test_exports(self):
        right = self.compiled("namespace attn { struct A { virtual ~A(); }; A::~A() {} }", "-shared")
        self.assertEqual(check_symbols.wrong_exports(right), [])
        wrong = self.compiled("namespace attn { void a() {} } void stray() {}", "-shared")
        self.assertEqual(check_symbols.wrong_exports(wrong), ["x.o: exports stray()"])

    @unittest.skipUnless(platform.machine() == "x86_64", "needs x86 wide registers")
    def test_wide_weak_function(self):
        use = "void (*use)(float*) = &{};"
        plain = self.compiled(ADD + use.format("add"), "-c")
        self.assertEqual(check_symbols.wide_weak_functions([plain]), [])
        wide = self.compiled(ADD + use.format("add"), "-c", "-mavx2")
        self.assertEqual(len(check_symbols.wide_weak_functions([wide])), 1)
        named = self.compiled("namespace N_AVX2 {" + ADD + "}" + use.format("N_AVX2::add"), "-c", "-mavx2")
        self.assertEqual(check_symbols.wide_weak_functions([named]), [])


if __name__ == "__main__":
    unittest.main()
