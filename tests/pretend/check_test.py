#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose ranks disagree are named by `pretend/start --check`, and programs that are right are not.

    check_test.py START NAME|torchrun:NAME|right|disagree...

START is pretend/start, NAME a program of ranks/; all that are right run under one check. torchrun: is for one whose ranks
disagree: torchrun starts them in place of a fork.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

START, CHOSEN = sys.argv[1], sys.argv[2:]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import torch_python  # beside the tests

RUN = HERE / "ranks" / "run.py"
LIMIT = 150  # seconds, beside what the patience allows
OPERATION = re.compile(r"(all-reduce|broadcast|reduce|all-gather|reduce-scatter|gather|scatter|all-to-all|send|receive) (\d+)")


def run_checked(launcher, python, names, patience):
    """(exit status, standard error) of the programs under a check; all that they started has ended then."""
    words = [START, f"--patience={patience:g}", "--check", "--gpus=4", f"--python={python}", "--", *launcher, str(RUN), *names]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            said, _ = process.communicate(timeout=LIMIT + 3 * patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()[0] + f"\nstopped after {LIMIT + 3 * patience:g} s"
    return process.returncode, said


def reports_of(said):
    """Each report as (kind, {rank: its line})."""
    found = []
    for line in said.splitlines():
        if head := re.match(r"pretended GPUs: (ended|differs|order|waits|suspected): \S", line):
            found.append((head[1], {}))
        elif found and (of_rank := re.match(r"  rank (\d+): (\S.*)", line)):
            found[-1][1][int(of_rank[1])] = of_rank[2]
    return found


def fault_of_line(rank, text, program):
    """What is wrong with the line of a rank; "" for nothing."""
    if ended := program["ended"].get(str(rank)):
        return "" if text.startswith("ended") and ended in text else f"does not say {ended}"
    place, operation = re.search(r"([\w.]+\.py):(\d+)$", text), OPERATION.search(text)
    marked = program["marks"].get(str(rank), {}).get(place[2] if place and place[1] == program["file"] else "")
    if marked is None:
        return "names a line that has no part in it"
    operations, count = marked
    if operations == ["any"]:
        return ""
    if operation is None or operation[1] not in operations or count and int(operation[2]) != count:
        return f"names another call than {'|'.join(operations)} {count or ''}"
    return ""


def fault(status, said, program):
    """What is wrong with the answer to a program whose ranks disagree; "" for nothing."""
    reports = reports_of(said)
    if status != 3 or len(reports) != 1:
        return f"status {status}, {len(reports)} reports; status 3 and one report are expected"
    kind, ranks = reports[0]
    if kind not in program["kinds"]:
        return f"{kind}, not {' or '.join(program['kinds'])}"
    must = {int(rank) for rank in program["ended"]} | set(program["culprits"] or map(int, program["marks"]))
    if must - set(ranks):
        return f"does not name the ranks {sorted(must - set(ranks))}"
    wrong = [f"rank {rank}: {why}" for rank, text in ranks.items() if (why := fault_of_line(rank, text, program))]
    return "; ".join(wrong)


def false_alarms(python, names, verdicts):
    """The programs that are right, under one check, with what is wrong with the answers."""
    patience = max(verdicts[name]["patience"] for name in names)
    status, said = run_checked([python], python, names, patience)
    if reports_of(said) or status == 3:
        return [f"false alarm, status {status}, behind the last program that has ended:\n{said}"]
    wrong = [name for name in names if f"{name}: status {verdicts[name]['status']}\n" not in said]
    return [f"other statuses than expected: {', '.join(wrong)}; status {status}\n{said}"] if wrong else []


def main():
    python = torch_python.need(torch_python.HAS_CUDA)
    asked = subprocess.run([python, "-B", RUN, "--verdicts"], stdout=subprocess.PIPE, text=True, check=True)
    verdicts = json.loads(asked.stdout)
    right = [name for name, program in verdicts.items() if not program["kinds"]]
    every = {"right": right, "disagree": [name for name in verdicts if name not in right]}
    names = [name for word in CHOSEN for name in every.get(word, [word])]
    failed = false_alarms(python, chosen, verdicts) if (chosen := [name for name in names if name in right]) else []

    def judge(word):
        by_torchrun, name = word.startswith("torchrun:"), word.removeprefix("torchrun:")
        program = verdicts[name]
        torchrun = [python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={program['ranks']}"]
        status, said = run_checked(torchrun if by_torchrun else [python], python, [name], program["patience"])
        why = fault(status, said, program)
        return f"{word}: {why}\n{said}" if why else ""

    wrong = [name for name in names if name not in right]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failed += filter(None, pool.map(judge, wrong))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(*failed, sep="\n")
    print(f"{len(wrong)} programs whose ranks disagree and {len(chosen)} that are right: {len(failed)} answers are wrong; "
          f"{used.ru_utime + used.ru_stime:.0f} s of CPU")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
