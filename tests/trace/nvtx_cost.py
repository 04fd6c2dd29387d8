#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What nvtx_cost finds, over launches: geometric means of its ratios, with Student's t interval on their logarithms.

    nvtx_cost.py LAUNCHES COMMAND...

COMMAND starts nvtx_cost, by mpirun perhaps.
"""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "agreement"))
from launches import LAUNCHES, ratio_text  # noqa: E402


def main():
    if len(sys.argv) < 3 or not sys.argv[1].isdecimal() or int(sys.argv[1]) not in LAUNCHES:
        sys.exit(f"usage: nvtx_cost.py 1..{LAUNCHES[-1]} COMMAND...")
    ratios = defaultdict(list)
    for _ in range(int(sys.argv[1])):
        said = subprocess.run(sys.argv[2:], check=True, capture_output=True, text=True).stdout
        print(said.splitlines()[0])
        for what, ratio in re.findall(r"^(.* over no observer): ([0-9.]+) ", said, re.MULTILINE):
            ratios[what].append(float(ratio))
    for what, of_launches in ratios.items():
        print(f"{what}: {ratio_text(of_launches)}")


if __name__ == "__main__":
    main()
