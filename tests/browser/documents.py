# SPDX-License-Identifier: Apache-2.0
"""Results documents for the page's tests: made from a real one, so that they keep its form."""
import copy
import json
import pathlib
import subprocess


def read(path):
    """The document without PyTorch's launches, which stand in panels of their own."""
    document = json.loads(pathlib.Path(path).read_text())
    launches = document["tandem"]["launches"]
    launches[:] = [one for one in launches if "implementation" not in one["cell"]["options"]]
    return document


def report(tandem, document, folder):
    """Writes the document, a dictionary or text, and its report; returns the finished process."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = document if isinstance(document, str) else json.dumps(document)
    (folder / "results.json").write_text(text)
    return subprocess.run([tandem, "report", str(folder)], capture_output=True, text=True, check=False)


def page(tandem, document, folder):
    """The page of a document that has to be accepted."""
    ended = report(tandem, document, folder)
    if ended.returncode != 0:
        raise AssertionError(f"tandem report: exit status {ended.returncode}: {ended.stderr[:1000]}")
    return pathlib.Path(folder) / "report.html"


def with_launches(document, change):
    """A copy, in which `change` has altered each launch; without the entries made from them."""
    altered = dict(document, benchmarks=[])
    altered["tandem"] = dict(document["tandem"], launches=[copy.deepcopy(one) for one in document["tandem"]["launches"]])
    for launch in altered["tandem"]["launches"]:
        change(launch)
    return altered


def modelled(document):
    """The document with its own launches again, with a modelled interpreter and half as fast."""
    def onto_link(launch):
        launch["cell"]["options"]["dispatch-cost"] = "8us"
        launch["modelled"] = ["dispatch cost 8us"]
        launch["step_seconds"] = [2 * seconds for seconds in launch["step_seconds"]]
    both = with_launches(document, onto_link)
    both["tandem"]["launches"] = document["tandem"]["launches"] + both["tandem"]["launches"]
    return both


def bucket_caps(document):
    """ddp of the first workload with two more bucket sizes, and peaks of memory that differ."""
    more = with_launches(document, lambda launch: None)
    launches = more["tandem"]["launches"]
    for cap, factor in (("1", 1.2), ("all", 1.1)):
        for launch in [one for one in launches if one["cell"]["strategy"] == "ddp" and not one["cell"]["options"]]:
            other = copy.deepcopy(launch)
            other["cell"]["options"]["bucket-mb"] = cap
            other["step_seconds"] = [factor * seconds for seconds in launch["step_seconds"]]
            launches.append(other)
    return more


def many_cells(document, count):
    """`count` cells over batches and models; one launch each, of twenty samples."""
    template = with_launches(document, lambda launch: None)
    ok = [one for one in template["tandem"]["launches"] if one["status"] == "ok"]
    kinds = []
    for strategy, launch in (("single", "threads"), ("independent", "processes"), ("dp", "threads"), ("ddp", "processes")):
        kinds.append(next(one for one in ok if (one["cell"]["strategy"], one["cell"]["launch"]) == (strategy, launch)))
    launches = []
    for number in range(count):
        one = copy.deepcopy(kinds[number % len(kinds)])
        place = number // len(kinds)
        one["launch_index"] = 0
        one["cell"]["model"] = f"mlp-{place % 50}"
        one["cell"]["global_batch"] = 2 * (1 + place // 50)
        one["model"]["parameters"] = 1000 * (1 + place % 50)
        one["step_seconds"] = [1e-3 * (1 + place // 50) * (1 + 0.01 * at) for at in range(20)]
        launches.append(one)
    template["tandem"]["launches"] = launches
    template["tandem"]["sweep"]["planned_cells"] = count
    return template
