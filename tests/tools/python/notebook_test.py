#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cells of docs/notebook.ipynb run in their order, without Jupyter, and end with the answer.

    notebook_test.py SOURCE TANDEM

With the python that TANDEM_TORCH_PYTHON names, else this one or the system's. Exit status 77, with the reason, where
none of them has torch 2.0 or newer and pandas. Which sentences are true is the machine's; that they are there is not.
"""
import ast
import json
import os
import pathlib
import sys
import tempfile
import types
import unittest

SOURCE, TANDEM = (pathlib.Path(argument) for argument in sys.argv[1:3])
NOTEBOOK = SOURCE / "docs/notebook.ipynb"
sys.path[:0] = [str(SOURCE / "tests/support"), str(SOURCE / "tools/python")]
import torch_python  # by the path above

QUESTION = "import sys, pandas, torch; sys.exit(int(torch.__version__.split('.')[0]) < 2)"


def shown(value):
    """What a notebook shows of a cell's last value."""
    for name in ("_repr_html_", "_repr_markdown_"):
        if hasattr(value, name):
            return getattr(value, name)()
    return "" if value is None else repr(value)


def run(text, names):
    """As a notebook does: all statements, and the value of the last one where that is an expression."""
    tree = ast.parse(text)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return shown(eval(compile(last, str(NOTEBOOK), "eval"), names)) if last else ""


class Notebook(unittest.TestCase):
    def setUp(self):
        self.cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]

    def test_its_outputs_are_cleared(self):
        for cell in self.cells:
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))

    def test_its_cells_run_in_order_to_the_answer(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.environ["TANDEM_PROGRAM"] = str(TANDEM)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            main = types.ModuleType("__main__")  # where torch looks for the class
            texts = ["".join(cell["source"]) for cell in self.cells if cell["cell_type"] == "code"]
            outputs = "\n".join(run(text, vars(main)) for text in texts)
            os.chdir("/")
        for words in ("<strong>", "says nothing about GPUs", "<svg", "Net.json", "ddp_speed", "median_step_s", "backward",
                      "The ladder from dp to ddp"):
            self.assertIn(words, outputs)


if __name__ == "__main__":
    python = torch_python.find(QUESTION)
    if python is None:
        print(f"skipped: none of {', '.join(torch_python.TRIED)} has torch 2.0 or newer and pandas")
        sys.exit(77)
    if os.environ.get("NOTEBOOK_TEST") != "inside":  # torch stands beside an interpreter of its own
        os.environ["NOTEBOOK_TEST"] = "inside"
        os.execv(python, [python, "-B", *sys.argv])
    unittest.main(argv=sys.argv[:1])
