#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which lines of step_bench's table of models docs/method/model-table.md does not have.

    model_table_test.py STEP_BENCH MODEL_TABLE
"""
import subprocess
import sys

step_bench, model_table = sys.argv[1:]
table = subprocess.run([step_bench, "list"], capture_output=True, text=True, check=True).stdout
rows = table.splitlines()
assert len(rows) > 20 and any("| 124 439 808 |" in row for row in rows), table
with open(model_table, encoding="utf-8") as file:
    known = set(file.read().splitlines())
# Which models a node's CUDA back end lacks is the node's.
missing = [row for row in rows if row not in known and not row.startswith("Unavailable with --backend=cuda")]
assert not missing, "docs/method/model-table.md lacks\n" + "\n".join(missing)
