#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a page of docs/ and the source disagree about the keys of a file that Tandem writes or reads.

    check_documented_keys.py TANDEM STEP_BENCH

A heading names an object of a file. The first columns of the tables below it name the object's keys as `code`, all of
them and no others. What the programs write is read from the schema, the committed reports and the writers; what they
accept is asked of them: each refuses a key that it does not know, and names those that it knows.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["docs/results.md", "docs/sweeps.md", "docs/workload-files.md", "docs/lessons.md"]

SWEEP = {"name": "keys", "workloads": [{"model": "mlp-tiny", "batch": 8}], "devices": 1, "strategies": [{"strategy": "dp"}],
         "constraints": [{"drop": {"batch": {"above": 9}}, "reason": "large"}]}
PASS = {"operations": 1, "flops": 1}
WORKLOAD = {"tandem_workload": 1, "name": "keys", "input": {"width": 4}, "output": {"width": 4},
            "tensors": [{"name": "weight", "shape": [4, 4], "layer": "only"}], "buffers": [{"name": "count", "shape": [1]}],
            "layers": [{"name": "only", "forward": PASS, "backward": PASS, "activation_bytes": 0}]}


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def keys_of_page(text):
    """The keys of each heading: `code` in the first cell of its tables' rows, without the row of titles, or `code:` at the
    head of a line of a list."""
    found, heading, row = {}, "", 0
    for line in text.splitlines():
        if line.startswith("#"):
            heading, row = line.lstrip("# ").lower(), 0
        elif line.startswith("|"):
            row += 1
            if row > 2:
                found.setdefault(heading, []).extend(re.findall(r"`([^`]+)`", line.split("|")[1]))
        else:
            row = 0
            found.setdefault(heading, []).extend(re.findall(r"^- `([^`]+)`: ", line))
    return found


def words_after(text, start, pattern):
    """What `pattern` finds in the body of the function or value that begins with `start`."""
    body = text[text.index(start):]
    return re.findall(pattern, body[:body.index("\n}\n") if "\n}\n" in body else len(body)])


def columns(path, name):
    """The value of a constant text of C++, as a list of columns."""
    value = re.search(r"string_view " + name + r"\s*=((?:\s*\"[^\"]*\")+);", text_of(path)).group(1)
    return "".join(re.findall(r'"([^"]*)"', value)).split(",")


def written():
    """{heading: keys} of docs/results.md."""
    schema = json.loads(text_of("common/results/schema/results-2.schema.json"))  # its objects' lists are generated
    found = {"Context": list(schema["$defs"]["context"]["properties"])}
    found["Context"] += re.findall(r'\{"(tandem_\w+)"', text_of("tools/tandem/run/measuring.cc"))
    found["Context"] += re.findall(r'= "(tandem_\w+)"', text_of("reports/model/subject.h"))
    writes = r'writer\.(?:value|open)\("(\w+)"|write_json\(writer, "(\w+)"'
    found["Journal"] = [a or b for a, b in words_after(text_of("common/results/journal.cc"), "std::string header_line(", writes)]
    for name in ("cells", "comparisons"):  # a test holds both to what the program writes
        found[name + ".csv"] = text_of(f"reports/samples/quick-2-cores/{name}.csv").partition("\n")[0].split(",")
    csv = "reports/render/csv.cc"
    last = re.search(r'"\{\},\{\},([a-z_,]+)\\n", kCellColumns, kMarkColumns', text_of(csv)).group(1)
    found["samples.csv"] = columns(csv, "kCellColumns") + columns(csv, "kMarkColumns") + last.split(",")
    return found


def sweeps():
    """{heading: names} of the built-in sweeps in docs/sweeps.md."""
    return {"The built-in sweeps": sorted(file.stem for file in (ROOT / "tools/sweeps").glob("*.json"))}


def lessons():
    """{heading: names} of docs/lessons.md."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "bench/lessons").glob("*.cc"))]
    return {"The claims": [name for text in texts for name in re.findall(r'^      \{"([a-z-]+)",', text, re.MULTILINE)],
            "The traps of PyTorch": re.findall(r'^@lesson\("([a-z-]+)",', text_of("tools/torch/lessons.py"), re.MULTILINE)}


def known_keys(document, place, command, folder):
    """The keys that a program knows at this place of a document, by its refusal of one that it does not."""
    spoilt = copy.deepcopy(document)
    part = spoilt
    for step in place:
        part = part[step]
    part["no-such-key"] = 1
    file = folder / "document.json"
    file.write_text(json.dumps(spoilt), encoding="utf-8")
    ended = subprocess.run([word.format(file=file) for word in command], capture_output=True, text=True, timeout=60, check=False)
    answer = re.search(r"unknown key 'no-such-key'; known are (.*)", ended.stderr)
    assert answer, f"{' '.join(command)} does not refuse an unknown key of {place}: {ended.stdout[:400]}{ended.stderr[:400]}"
    return re.split(r", ", answer.group(1).replace(" and the options of step_bench", ""))


SWEEP_PLACES = {"Sweep file": (), "Workload": ("workloads", 0), "Strategy": ("strategies", 0), "Constraint": ("constraints", 0),
                "Condition": ("constraints", 0, "drop"), "Bounds": ("constraints", 0, "drop", "batch")}
WORKLOAD_PLACES = {"Workload file": (), "Input": ("input",), "Output": ("output",),
                   "Tensor": ("tensors", 0), "Buffer": ("buffers", 0), "Layer": ("layers", 0),
                   "Pass": ("layers", 0, "forward")}


def accepted(document, places, command):
    """{heading: keys} of a file that a program reads."""
    with tempfile.TemporaryDirectory() as name:
        return {heading: known_keys(document, place, command, pathlib.Path(name)) for heading, place in places.items()}


def faults(page, text, source):
    """What the page lacks, and what it has that the source lacks."""
    documented = keys_of_page(text)
    for heading, keys in source.items():
        have = documented.get(heading.lower(), [])
        if not keys:
            yield f"{page}: the source of '{heading}' was not found; mend {pathlib.Path(__file__).name}"
        for key in dict.fromkeys(keys):
            if key not in have:
                yield f"{page}: the tables of '{heading}' lack `{key}`"
        for key in dict.fromkeys(have):
            if key not in keys:
                yield f"{page}: '{heading}' has `{key}`, which the source does not have"
            elif have.count(key) > 1:
                yield f"{page}: '{heading}' has `{key}` twice"


def sources(tandem, step_bench):
    sweep = accepted(SWEEP, SWEEP_PLACES, [tandem, "run", "{file}", "--dry-run", "--backend=host"])
    return [written(), {**sweep, **sweeps()},
            accepted(WORKLOAD, WORKLOAD_PLACES, [step_bench, "--model={file}", "list"]), lessons()]


def main():
    found = sources(*sys.argv[1:])
    wrong = [fault for page, source in zip(PAGES, found) for fault in faults(page, text_of(page), source)]
    count = sum(len(set(keys)) for source in found for keys in source.values())
    print("\n".join(dict.fromkeys(wrong)) if wrong else f"{count} keys are documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
