# SPDX-License-Identifier: Apache-2.0
"""script/check-layers must find each kind of offence in a small tree, and none in a right one."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "script" / "check-layers"


def load():
    loader = importlib.machinery.SourceFileLoader("check_layers", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
    loader.exec_module(module)
    return module


check_layers = load()
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
RIGHT = {
    "include/attn/view.hpp": SPDX + "#pragma once\n#include <vector>\n",
    "include/attn/attention.hpp": SPDX + "#pragma once\n#include <attn/view.hpp>\n",
    "src/base/view.cpp": SPDX + "#include <attn/view.hpp>\n",
    "src/kernels/dot.hpp": SPDX + "#pragma once\n#include <hwy/highway.h>\n",
    "src/ops/attention.cpp": SPDX + '#include <attn/attention.hpp>\n#include "kernels/dot.hpp"\n',
    "src/ops/CMakeLists.txt": "attn_add_folder(ops SOURCES attention.cpp USES kernels base)\n",
    "tests/ops/attention_test.cpp": SPDX + '#include "kernels/dot.hpp"\n',
}


class CheckLayers(unittest.TestCase):
    def offences(self, changed):
        """What is found in the right tree with the files of `changed` put in."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in {**RIGHT, **changed}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return check_layers.Checker(root).run()

    def assert_one(self, changed, sentence):
        found = self.offences(changed)
        self.assertEqual(len(found), 1, found)
        self.assertIn(sentence, found[0])

    def test_right_tree(self):
        self.assertEqual(self.offences({}), [])

    def test_upward_private_include(self):
        self.assert_one({"src/kernels/dot.cpp": SPDX + '#include "ops/plan.hpp"\n'}, "kernels may not use ops")

    def test_upward_public_include(self):
        self.assert_one({"src/kernels/dot.cpp": SPDX + "#include <attn/attention.hpp>\n"}, "kernels may not use ops")

    def test_upward_include_between_public_headers(self):
        self.assert_one({"include/attn/view.hpp": SPDX + "#pragma once\n#include <attn/attention.hpp>\n"},
                        "base may not use ops")

    def test_indented_include(self):
        self.assert_one({"src/base/view.cpp": SPDX + '  #  include "ops/plan.hpp"\n'}, "base may not use ops")

    def test_foreign_library(self):
        self.assert_one({"src/ops/json.cpp": SPDX + "#include <nlohmann/json.hpp>\n"}, "ops may not use nlohmann")

    def test_foreign_library_in_public_header(self):
        self.assert_one({"include/attn/view.hpp": SPDX + "#pragma once\n#include <hwy/base.h>\n"},
                        "the standard library only")

    def test_private_header_in_public_header(self):
        self.assert_one({"include/attn/view.hpp": SPDX + '#pragma once\n#include "base/convert.hpp"\n'},
                        "the standard library only")

    def test_include_without_folder(self):
        self.assert_one({"src/ops/attention.cpp": SPDX + '#include "plan.hpp"\n'}, "name the folder")

    def test_umbrella_in_library(self):
        self.assert_one({"src/ops/attention.cpp": SPDX + "#include <attn/attn.hpp>\n"}, "is for users")

    def test_unknown_public_header(self):
        self.assert_one({"include/attn/new.hpp": SPDX + "#pragma once\n"}, "does not know its folder")

    def test_unknown_folder(self):
        self.assert_one({"src/util/x.txt": ""}, "not in the table")

    def test_program_reaching_into_library(self):
        self.assert_one({"apps/attn/main.cpp": SPDX + '#include "ops/plan.hpp"\n'}, "public headers only")

    def test_test_reaching_upward(self):
        self.assert_one({"tests/base/view_test.cpp": SPDX + '#include "kernels/dot.hpp"\n'}, "may not reach into")

    def test_linking_upward(self):
        self.assert_one({"src/ops/CMakeLists.txt": "attn_add_folder(ops SOURCES a.cpp USES base nn LINKS x)\n"},
                        "ops may not use nn")

    def test_shape(self):
        self.assert_one({"src/base/view.cpp": "#include <attn/view.hpp>\n"}, "SPDX")
        self.assert_one({"src/base/view.hpp": SPDX}, "#pragma once")
        self.assert_one({"src/base/view.cpp": SPDX + "\n" * 500}, "501 lines")


if __name__ == "__main__":
    unittest.main()
