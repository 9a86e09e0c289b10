# SPDX-License-Identifier: Apache-2.0
"""Runs the command line program as a user does, in a folder of its own."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["ATTN_PROGRAM"]
REPOSITORY = os.environ["ATTN_REPOSITORY"]
DATA = os.path.join(REPOSITORY, "tests", "data")

# A whole model folder of 260 KB: 2 layers of 4 heads, 32 positions, embeddings of texts up to 24 tokens.
TINY = os.path.join(DATA, "tiny_bert", "relu_prefix")


def minilm():
    """The folder of all-MiniLM-L6-v2. Without it the whole test is skipped, but in CI it fails: a skip would hide a
    broken download."""
    folder = os.environ.get("ATTN_MINILM_DIR") or os.path.join(REPOSITORY, ".cache/models/all-MiniLM-L6-v2")
    if os.path.exists(os.path.join(folder, "tokenizer.json")):
        return folder
    print("SKIPPED: all-MiniLM-L6-v2 is not there (ATTN_MINILM_DIR); script/demo fetches it")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def full_disk(limit=4096):
    """Keywords with which a program fails to write beyond `limit` bytes of a file, as on a full disk. Python ignores
    the signal that would otherwise end it, and the program inherits that."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return {"preexec_fn": limited, "restore_signals": False}


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="attn-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def tiny_model(self, name="model"):
        """A copy of the tiny model, to be broken."""
        shutil.copytree(TINY, self.path(name), dirs_exist_ok=True)
        return name

    def attn(self, *arguments, **keywords):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, timeout=300, **streams)

    def succeeds(self, *arguments, **keywords):
        result = self.attn(*arguments, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr.decode(errors="replace"))
        return result

    def gives_notice(self, arguments, sentence):
        """Exit code 0, and a line on standard error that holds `sentence`."""
        result = self.succeeds(*arguments)
        error = result.stderr.decode()
        self.assertIn(sentence, error)
        self.assertTrue(all(line.startswith("attn: ") for line in error.splitlines()), error)
        return result

    def refuses(self, arguments, sentence, **keywords):
        """Exit code 2, one sentence that holds `sentence` on standard error, nothing else anywhere."""
        before = self.listing()
        result = self.attn(*arguments, **keywords)
        error = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, 2, error)
        self.assertIn(sentence, error)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertTrue(error.startswith("attn: "), error)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(self.listing(), before, "nothing may be left behind")

    def listing(self):
        """Everything in the folder, folders too."""
        return sorted(os.path.join(root, name) for root, folders, names in os.walk(self.folder) for name in folders + names)
