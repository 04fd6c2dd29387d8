#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what `tandem project` predicts for one GPU, before anybody measures it: reports/predictions/DATE.json.

    gpu_predict.py PROGRAMS [--out=FILE.json] [--date=YYYY-MM-DD]

Each cell is predicted twice: for Tandem's own step, without an interpreter's costs, and for PyTorch's, with them. What `tandem
project` does not ask, dp and ddp on one device and images channels last, comes from the program that it runs itself, step_bench on
the described machine. All have the half width that `tandem project` gives a step of one device. A file that is there already is
refused: it is never written again. PROGRAMS is the folder of tandem and step_bench.
"""
import argparse
import datetime
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "reports" / "predictions"
HARDWARE = ("dgx-h100", "hgx-h200")
CELLS = (  # model, samples, precision, options beside
    ("gpt2-124m", 8, "bf16", {}), ("gpt2-124m", 8, "tf32", {}),
    ("resnet50", 128, "bf16", {}), ("resnet50", 128, "bf16", {"channels-last": "on"}),
    ("mlp-base", 512, "fp32", {}), ("mlp-base", 512, "tf32", {}), ("mlp-base", 512, "bf16", {}), ("mlp-base", 4096, "fp32", {}))
STRATEGIES = ("single", "dp", "ddp")


class Failed(Exception):
    pass


def output_of(programs, words):
    done = subprocess.run([programs / words[0], *words[1:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: exit {done.returncode}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return done.stdout


def single_of(programs, hardware, cell, implementation, folder):
    """(words of the command, the simulated launch of `single`, the half width of its interval)."""
    model, batch, precision, _ = cell
    words = ["tandem", "project", f"--model={model}", f"--precision={precision}", f"--hardware={hardware}", "--devices=1", f"--batch-per-device={batch}"]
    words += ["--dispatch-cost=off"] if implementation == "tandem" else []
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    output_of(programs, [*words, f"--out={out}"])
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    widths = dict(part.split(":")[:2] for part in document["context"]["tandem_half_widths"].split(","))
    return words, document["tandem"]["launches"][0], float(widths["single"])


def words_of_step(hardware, cell, strategy, costs):
    """What tandem project has step_bench simulate, of another strategy or with options of its own."""
    model, batch, precision, options = cell
    return ["step_bench", "--backend=simulated", f"--hardware={hardware}", f"--model={model}", f"--precision={precision}", f"--strategy={strategy}",
            "--devices=1", f"--batch={batch}", *(f"--{name}={value}" for name, value in options.items()),
            *([f"--dispatch-cost={costs}"] if costs else []), *(["--interpreter-lock=on"] if costs and strategy == "dp" else [])]


def step_of(programs, words, folder):
    record = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "record.json"
    output_of(programs, [*words, f"--record={record}"])
    return json.loads(record.read_text(encoding="utf-8"))


def entries_of(programs, hardware, cell, implementation, folder):
    words, launch, half_width = single_of(programs, hardware, cell, implementation, folder)
    model, batch, precision, options = cell
    for strategy in STRATEGIES:
        if strategy != "single" or options:
            words = words_of_step(hardware, cell, strategy, launch["cell"]["options"].get("dispatch-cost"))
            step = step_of(programs, words, folder)
        else:
            step = launch
        seconds = step["step_seconds"][-1]
        yield {"hardware": hardware, "implementation": implementation, "strategy": strategy, "model": model, "devices": 1, "global_batch": batch,
               "precision": precision, "options": options, "seconds": round(seconds, 9), "low": round(seconds * math.exp(-half_width), 9),
               "high": round(seconds * math.exp(half_width), 9), "peak_bytes": step["memory"][0]["peak_bytes"], "command": " ".join(words)}


def document_of(programs, date):
    errors = json.loads((ROOT / "common/hardware/catalogue/published.json").read_text(encoding="utf-8"))["elsewhere"]
    with tempfile.TemporaryDirectory() as folder:
        entries = [entry for hardware in HARDWARE for cell in CELLS for implementation in ("tandem", "torch")
                   for entry in entries_of(programs, hardware, cell, implementation, folder)]
        asked = ("mlp-base", 512, "fp32", {})
        _, launch, half_width = single_of(programs, HARDWARE[0], asked, "tandem", folder)
    of_one = next(row for row in errors if row["strategy"] == "single")
    return {"tandem_predictions": "1.0.0", "date": date, "tandem_version": output_of(programs, ["tandem", "--version"]).split()[1],
            "commit": subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip(),
            "programs": launch["machine"]["libraries"]["tandem"],
            "interval": {"half_width": half_width, "promise": 0.9,
                         "from": f"errors on {of_one['steps']} published steps of one GPU of ResNet-50 and BERT-large, on {of_one['systems']} systems, that "
                                 "nothing was fitted to (docs/method/projection.md); other models may lie outside, and so may Tandem's own kernels"},
            "entries": entries}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    out = options.out or FOLDER / f"{options.date}.json"
    if out.exists():
        print(f"gpu_predict: {out} is there already, and predictions are not written again; give another --out", file=sys.stderr)
        return 2
    try:
        document = document_of(options.programs.resolve(), options.date)
    except (Failed, OSError) as error:
        print(f"gpu_predict: {error}", file=sys.stderr)
        return 1
    rows = ",\n".join("  " + json.dumps(entry) for entry in document.pop("entries"))
    head = json.dumps(document, indent=1).removesuffix("\n}")
    out.write_text(f'{head},\n "entries": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
