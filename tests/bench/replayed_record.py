#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: replayed_record.py FOLDER STEP_BENCH ARGUMENT...: what the record of a replayed step holds."""
import json
import subprocess
import sys

folder, *command = sys.argv[1:]


def record_of(graph):
    file = f"{folder}/replayed_{graph}.json"
    subprocess.run([*command, f"--cuda-graph={graph}", "--min-time=1ms", f"--record={file}"], check=True)
    with open(file, encoding="utf-8") as text:
        return json.load(text)


replayed, enqueued = record_of("on"), record_of("off")
assert replayed["cell"]["options"] == {"cuda-graph": "on"}, replayed["cell"]
assert enqueued["cell"]["options"] == {}, enqueued["cell"]
assert replayed["dispatches_per_step"] == 1 < enqueued["dispatches_per_step"]
times = [record["phases"][0]["mean_seconds"] for record in (replayed, enqueued)]
assert set(times[0]) == set(times[1]) == {"input", "forward", "loss", "backward", "update"}, times
assert all(seconds > 0 for seconds in times[0].values()), times[0]
