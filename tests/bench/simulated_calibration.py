#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A calibration is enough for simulations, which take its times, and says what it is not of.

    simulated_calibration.py STEP_BENCH
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
MOST_WIDTH = 2 * 784  # of a sample of mlp-tiny with its targets
TICKS = 4e-9  # seconds: each of the copies' parts is rounded to a nanosecond


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def calibrate(file, model, batches):
    done = run("--backend=host", "calibrate", f"--file={file}", f"--model={model}", f"--batches={batches}")
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


def simulate(file, *arguments):
    record = file.with_name("record.json")
    done = run("--backend=simulated", f"--calibration={file}", f"--record={record}", *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return record.read_text()


def refused(reason, *arguments):
    done = run(*arguments)
    assert done.returncode == 2 and reason in done.stderr, (arguments, done.returncode, done.stderr)
    assert reason in done.stderr.strip().splitlines()[-1], done.stderr


def check_path(record, link):
    """Beside operations a step has the two copies of the batch and its targets, whose times follow from the link."""
    operations, copies = (record["rests_on"][f"{of} measured"] for of in ("operations", "copies"))
    assert abs(operations + copies - 1) < 1e-9, record["rests_on"]
    step = record["step_seconds"][0]
    least = 2 * int(link["latency"]["value"].removesuffix("ns")) * 1e-9
    elements = record["cell"]["global_batch"] * MOST_WIDTH
    most = least + 4 * elements / (float(link["bandwidth"]["value"].removesuffix("GBps")) * 1e9)
    assert least - TICKS <= copies * step <= most + TICKS, (least, copies * step, most)
    words = f"critical path: operations {100 * operations:.3g} % measured; copies {100 * copies:.3g} % measured"
    assert record["modelled"][1] == words, record["modelled"]


def check_steps(file, calibration):
    for batch in calibration["models"]["mlp-tiny"][0]["batches"]:
        if os.cpu_count() > 1:  # cores beside one another, which exchange and wait for the slowest
            assert batch["beside_others"] > 0, batch
        record = json.loads(simulate(file, "--model=mlp-tiny", f"--batch={batch['batch']}"))
        ratio = record["step_seconds"][0] / batch["step_seconds"]
        assert abs(ratio - 1) < 0.01, f"batch {batch['batch']}: {ratio} of the measured step"
        assert set(record["rests_on"]) == {"operations measured", "copies measured"}, record["rests_on"]
        check_path(record, calibration["hardware"]["node"]["host_link"])
    between = json.loads(simulate(file, "--model=mlp-tiny", "--batch=16"))
    assert between["rests_on"]["operations interpolated"] > 0.05, between["rests_on"]  # how much depends on the build
    assert "% interpolated" in between["modelled"][1], between["modelled"]
    assert between["cell"]["options"]["calibration"].startswith("own.json#"), between["cell"]


def check_strategies(file):
    for strategy in ["dp", "ddp", "independent"]:
        cell = ["--model=mlp-tiny", f"--strategy={strategy}", "--devices=4", "--batch-per-device=8"]
        text = simulate(file, *cell)
        assert text == simulate(file, *cell), f"{strategy}: two simulations differ"


def check_refusals(file):
    simulated = ["--backend=simulated", f"--calibration={file}", "--batch=8"]
    refused("has no times of mlp-small, but of mlp-tiny", *simulated, "--model=mlp-small")
    refused("its times are for fp32", *simulated, "--model=mlp-tiny", "--precision=bf16")
    refused("was not measured", *simulated[:2], "--batch=4096", "--model=mlp-tiny")
    elsewhere = file.with_name("elsewhere.json")
    text = json.loads(file.read_text())
    text["origin"]["fingerprint"] = "3 cores of another CPU"
    elsewhere.write_text(json.dumps(text))
    again = ["--backend=host", "--model=mlp-tiny", "--batches=8"]
    refused("another machine, '3 cores of another CPU'", *again, "calibrate", f"--file={elsewhere}")


with tempfile.TemporaryDirectory() as scratch:
    own = pathlib.Path(scratch) / "own.json"
    first = calibrate(own, "mlp-tiny", "8,32")
    if os.cpu_count() > 1:
        assert first["hardware"]["host"]["stream_wake"]["source"] == "measured", first["hardware"]["host"]
    check_steps(own, first)
    check_strategies(own)
    check_refusals(own)
    more = calibrate(own, "mlp-tiny", "64")
    launches = more["models"]["mlp-tiny"]
    assert [[one["batch"] for one in launch["batches"]] for launch in launches] == [[8, 32, 64]], launches
    assert more["hardware"] == first["hardware"], "the machine is measured once"
    again = calibrate(own, "mlp-tiny", "8")["models"]["mlp-tiny"]
    assert [len(launch["batches"]) for launch in again] == [3, 1], again
