#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions of steps on one GPU, committed before anybody measured them, and what a measurement says of them.

    gpu_predictions.py write PROGRAMS [--out=FILE.json] [--date=YYYY-MM-DD]
    gpu_predictions.py compare RESULTS.json [PREDICTIONS.json]

write makes reports/predictions/DATE.json of what `tandem project` says now. Each cell is predicted twice: for Tandem's own step,
without an interpreter's costs, and for PyTorch's, with them. What that command does not ask, dp and ddp on one device and images
channels last, comes from the program that it runs itself, step_bench on the described machine. All have the half width that it
gives a step of one device. A file that is there already is refused: it is never written again. PROGRAMS is the folder of tandem and
step_bench.

compare holds a results document against predictions, by default all of reports/predictions, on the machine that the measured GPU's
name means. A cell's step is the median of its launches' medians; the error is predicted over measured, less 1. Exit status: 0 where
all compared cells lie inside their interval, 3 where one lies outside, 1 where a file tells nothing, 2 for wrong usage, 130 after Ctrl-C.
"""
import argparse
import datetime
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

# In an archive the folder of this script lies beside reports/, in a checkout in tools/.
ROOT = next(folder for folder in pathlib.Path(__file__).resolve().parents[1:] if (folder / "reports").is_dir() or folder.name != "tools")
FOLDER = ROOT / "reports" / "predictions"
HARDWARE = ("dgx-h100", "hgx-h200")
CELLS = (  # model, samples, precision, options beside
    ("gpt2-124m", 8, "bf16", {}), ("gpt2-124m", 8, "tf32", {}),
    ("resnet50", 128, "bf16", {}), ("resnet50", 128, "bf16", {"channels-last": "on"}),
    ("mlp-base", 512, "fp32", {}), ("mlp-base", 512, "tf32", {}), ("mlp-base", 512, "bf16", {}), ("mlp-base", 4096, "fp32", {}))
STRATEGIES = ("single", "dp", "ddp")
KEY = ("implementation", "strategy", "model", "devices", "global_batch", "precision")
NO_QUESTION = ("implementation", "precision", "bind", "gpus", "gpu-wait", "peak-gflops", "comm")  # options that the key has, or of the machine
RESULTS_SCHEMA, PREDICTIONS_SCHEMA = "2.", "1."
MOST_NAMED = 6


class Failed(Exception):
    """With the exit status."""

    def __init__(self, words, status=1):
        super().__init__(words)
        self.status = status


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
    errors = json.loads((ROOT / "simulate/catalogue/published.json").read_text(encoding="utf-8"))["elsewhere"]
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
                                 "nothing was fitted to (docs/method/one-device.md); other models may lie outside, and so may Tandem's own kernels"},
            "entries": entries}


def write(options):
    out = options.out or FOLDER / f"{options.date}.json"
    if out.exists():
        raise Failed(f"{out} is there already, and predictions are not written again; give another --out", 2)
    document = document_of(options.programs.resolve(), options.date)
    rows = ",\n".join("  " + json.dumps(entry) for entry in document.pop("entries"))
    head = json.dumps(document, indent=1).removesuffix("\n}")
    out.write_text(f'{head},\n "entries": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    print(out)
    return 0


def machine_meant(name):
    """The catalogue's machine that has a GPU of such a name; empty where none is meant. NVML names the SXM ones so."""
    words = name.upper().replace("-", " ").split()
    if "MIG" in words or {"NVL", "PCIE", "GH200"} & set(words):
        return ""
    return "dgx-h100" if {"H100", "HBM3"} <= set(words) else "hgx-h200" if "H200" in words else ""


def document_in(file, key, version, what):
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Failed(f"looking for {file}: there is no such file", 2) from None
    except OSError as error:
        raise Failed(f"reading {file}: {error.strerror}") from None
    except ValueError:
        raise Failed(f"reading {file}: it is not JSON") from None
    found = document.get(key) if isinstance(document, dict) else None
    told = found.get("schema_version") if isinstance(found, dict) else found
    if not isinstance(told, str):
        raise Failed(f"reading {file}: it is no {what}, since it has no version in '{key}'")
    if not told.startswith(version):
        raise Failed(f"reading {file}: it has version {told}, and {version}x is read; write it anew with this Tandem")
    return document


def measured_in(file):
    """({name of a cell: (its key, [median of a launch])}, the machine that the GPUs mean)."""
    cells, names = {}, set()
    for launch in document_in(file, "tandem", RESULTS_SCHEMA, "results document")["tandem"]["launches"]:
        cell = launch["cell"]
        if cell["backend"] != "cuda" or launch["status"] != "ok":
            continue
        device = launch.get("machine", {}).get("libraries", {}).get("device")
        names.update({gpu["name"] for gpu in launch.get("gpus", [])} or ({device} if device else set()))
        if launch.get("planted") or launch.get("oversubscribed") or launch.get("mode", "synchronous") != "synchronous":
            continue
        options = cell.get("options", {})
        whose = options.get("implementation", "tandem").split("-")[0]
        key = key_of({**cell, "implementation": whose, "precision": launch.get("precision", "fp32"),
                      "options": {name: value for name, value in options.items() if name not in NO_QUESTION}})
        name = "/".join([cell["strategy"], cell["launch"], cell["model"], f"devices:{cell['devices']}", f"batch:{cell['global_batch']}",
                         *(f"{name}:{value}" for name, value in sorted({**options, "precision": key[5]}.items()) if name != "implementation")])
        cells.setdefault((name, options.get("implementation", "tandem")), (key, []))[1].append(statistics.median(launch["step_seconds"]))
    if not names:
        raise Failed(f"{file}: no step of it was measured on a GPU", 2)
    machines = {machine_meant(name) for name in names}
    if len(machines) > 1 or "" in machines:
        raise Failed(f"{file}: its GPU is {', '.join(sorted(names))}, and predictions are of H100 80GB HBM3 and H200 alone", 2)
    return cells, machines.pop()


def key_of(entry):
    return (*(entry[name] for name in KEY), tuple(sorted(entry["options"].items())))


def predicted_in(files, machine):
    """[(date, key, entry)] of that machine."""
    found = []
    for file in files:
        document = document_in(file, "tandem_predictions", PREDICTIONS_SCHEMA, "file of predictions")
        found += [(document["date"], key_of(entry), entry) for entry in document["entries"] if entry["hardware"] == machine]
    return found


def milliseconds(seconds):
    return f"{1e3 * seconds:.{4 if seconds >= 1e-3 else 3}g}"


def counted(names, words):
    if names:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        print(f"{len(names)} {words}: {', '.join(names[:MOST_NAMED])}{more}")


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) if i < 3 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))).rstrip())


def compare(options):
    cells, machine = measured_in(options.results)
    files = [options.predictions] if options.predictions else sorted(FOLDER.glob("*.json"))
    if not files:
        raise Failed(f"looking for predictions: {FOLDER} has none; give a file")
    predicted = predicted_in(files, machine)
    rows, errors, inside = [["cell", "whose", "predicted on", "predicted, ms", "measured, ms", "launches", "error", "inside"]], [], 0
    for (name, whose), (key, medians) in sorted(cells.items()):
        measured = statistics.median(medians)
        for date, _, entry in [one for one in predicted if one[1] == key]:
            holds = entry["low"] <= measured <= entry["high"]
            errors.append(entry["seconds"] / measured - 1)
            inside += holds
            low, center, high = (milliseconds(entry[figure]) for figure in ("low", "seconds", "high"))
            rows.append([name, whose, date, f"{center} [{low} .. {high}]", milliseconds(measured), str(len(medians)), f"{100 * errors[-1]:+.0f} %", "yes" if holds else "no"])
    if not errors:
        raise Failed(f"{options.results}: none of its {len(cells)} cells on GPUs has a prediction of {machine}")
    print_table(rows)
    known, asked = {key for _, key, _ in predicted}, {key for key, _ in cells.values()}
    counted([f"{name} ({whose})" for (name, whose), (key, _) in sorted(cells.items()) if key not in known], "measured without a prediction")
    counted([f"{key[1]} {key[2]} {key[4]} {key[5]} ({key[0]})" for key in sorted(known - asked)], "predicted and not measured")
    sizes = [abs(error) for error in errors]
    print(f"{inside} of {len(errors)} inside their interval; mean error {100 * statistics.fmean(sizes):.0f} %, largest {100 * max(sizes):.0f} %")
    return 0 if inside == len(errors) else 3


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog.replace('gpu_predictions compare', 'gpu_node compare')}: {message}; see --help\n")


def parsed():
    parser = Parser(prog="gpu_predictions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="write|compare")
    writing = verbs.add_parser("write", allow_abbrev=False)
    writing.add_argument("programs", type=pathlib.Path)
    writing.add_argument("--date", default=datetime.date.today().isoformat())
    writing.add_argument("--out", type=pathlib.Path)
    comparing = verbs.add_parser("compare", allow_abbrev=False)
    comparing.add_argument("results", type=pathlib.Path, metavar="RESULTS.json")
    comparing.add_argument("predictions", type=pathlib.Path, nargs="?", metavar="PREDICTIONS.json")
    return parser.parse_args()


def main():
    options = parsed()
    try:
        return write(options) if options.verb == "write" else compare(options)
    except Failed as error:
        words, status = error, error.status
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        words, status = f"reading {options.results if options.verb == 'compare' else 'what the programs wrote'}: a key is missing or of another kind ({error!r})", 1
    except OSError as error:
        words, status = error, 1
    except KeyboardInterrupt:
        return 130
    print(f"{'gpu_node compare' if options.verb == 'compare' else 'gpu_predictions'}: {words}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
