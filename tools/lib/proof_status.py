#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was proved on GPUs, for docs/status.md: of each document in reports/samples that has rows of tools/gpu_proof.

    proof_status.py [--write] [CHECKOUT]

Prints the section, or writes it into CHECKOUT/docs/status.md between its two marks. Exit status: 0, or 1 where a mark is
missing.
"""
import json
import pathlib
import sys

BEGIN, END = "<!-- written by tools/lib/proof_status.py --write -->\n", "<!-- end of what is written -->\n"
STATES = "passed", "failed", "not resolved", "not run"
NONE = "No file of a GPU node is there so far.\n"


def rows_of(document):
    """{row: state} of a results document; empty without gpu_proof's rows."""
    entries = [entry for entry in document.get("benchmarks", []) if entry.get("tandem_source") == "proof"]
    return dict(entry["name"].rsplit("/", 1) for entry in entries)


def gpus_of(document):
    """"8x NVIDIA H100 80GB HBM3"; the most that a launch used; empty without any."""
    most = max((launch.get("gpus", []) for launch in document["tandem"]["launches"]), key=len, default=[])
    return f"{len(most)}x {most[0]['name']}" if most else ""


def proofs_in(samples):
    """(folder, document, {row: state}) of each sample with rows and GPUs: a rehearsal on a CPU proves nothing."""
    for file in sorted(samples.glob("*/*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        if rows_of(document) and gpus_of(document):
            yield file.parent.name, document, rows_of(document)


def section(samples):
    proofs = list(proofs_in(samples))
    if not proofs:
        return NONE
    lines = [["GPUs, date", *STATES], ["---"] * (1 + len(STATES))]
    for name, document, rows in proofs:
        head = f"[{gpus_of(document)}](../reports/samples/{name}), {document['context']['date'][:10]}"
        lines.append([head, *(", ".join(row for row in rows if rows[row] == state) or "none" for state in STATES)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    arguments = sys.argv[1:]
    is_writing = "--write" in arguments
    checkout = pathlib.Path(next((word for word in arguments if word != "--write"), pathlib.Path(__file__).parents[2]))
    text = section(checkout / "reports/samples")
    if not is_writing:
        print(text, end="")
        return 0
    page = checkout / "docs/status.md"
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"proof_status: {page} has lost the mark '{(END if begin else BEGIN).strip()}'; put it back", file=sys.stderr)
        return 1
    page.write_text(before + begin + text + end + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
