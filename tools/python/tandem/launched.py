# SPDX-License-Identifier: Apache-2.0
"""torchrun ... -m tandem FILE.py:FUNCTION [OPTION...]: this process is a rank, which torchrun, Slurm, Kubernetes or Ray started.

Rank 0 runs `tandem run --module`, which starts each launch by the program `relay` in place of mpirun. The first ranks take part
in a launch by a child each, PyTorch's side as mpirun starts it, with a store of torch's at MASTER_ADDR:MASTER_PORT:

    rank 0:    tandem run -> relay -> Conductor -> store: order/K
    each rank: store: order/K -> child -> store: end/K/RANK; stop/K too where the child fails, which ends the others'
    at the end: rank 0 sets order/K to a status, each other rank sets left/RANK
"""
from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Optional

from .children import Ended, kept_variables, run_child
from .command import starting
from .errors import TandemError, UsageError
from .place import HERE, program, torch_tools

NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
EXAMPLE = "torchrun --nproc-per-node=2 -m tandem own.py:build --batch-per-device=8"
OURS = ("--module", "--devices", "--hosts", "--launcher", "--with-torch", "--pretend")
PATIENCE = 300  # seconds that ranks may start one after the other
GRACE = 15.0  # seconds in which ranks end by themselves once rank 0's child has, and again once they are stopped
MOST_RANKS = 1 << 20
PERIOD = 0.5  # seconds between two looks at the store
QUIET = 2.0  # seconds in which rank 0 says what is wrong with the words that all ranks have
COMMAND = 3  # words of python, its option and step_twin, in whose place each rank has its own
LAUNCH = "TANDEM_LAUNCH"  # twin/place.py
OF_RANKS = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "OMPI_COMM_WORLD_", "SLURM_STEP_NUM_TASKS")
LOST = 3  # exit status of a launch after which none can be made: tools/tandem/launch/launcher.cc


def whole_number(name: str, least: int, most: int) -> int:
    """A variable of the launcher's."""
    text = os.environ[name]
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UsageError(f"{name}={text} is no whole number from {least} to {most}; see what the launcher sets")
    return int(text)


class Rank:
    """This process among those of the launcher."""

    def __init__(self) -> None:
        missing = [name for name in NEEDED if not os.environ.get(name)]
        if missing:
            raise UsageError(f"python -m tandem FILE.py:FUNCTION is a rank of a launcher, and {missing[0]} is not set: start it by one, such as "
                             f"{EXAMPLE}, or without a launcher: tandem run --module=FILE.py:FUNCTION")
        self.count = whole_number("WORLD_SIZE", 1, MOST_RANKS)
        self.number = whole_number("RANK", 0, self.count - 1)
        if "LOCAL_RANK" in os.environ:
            whole_number("LOCAL_RANK", 0, self.count - 1)
        self.address = os.environ["MASTER_ADDR"], whole_number("MASTER_PORT", 1, 65535)
        # A launcher that starts all ranks anew may keep its store.
        self.prefix = f"tandem/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"

    def join(self) -> Any:
        """The store; with torchrun its agent's, else rank 0's."""
        from torch import distributed

        is_master = self.number == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        try:
            store = distributed.TCPStore(*self.address, self.count, is_master=is_master, timeout=datetime.timedelta(seconds=PATIENCE))
        except Exception as error:
            where = ":".join(map(str, self.address))
            raise TandemError(f"rank {self.number}: meeting the others at {where}: {' '.join(str(error).split())[:200]}") from error
        return distributed.PrefixStore(self.prefix, store)


def removed_names() -> tuple[str, ...]:
    from twin import place

    return tuple(place.REMOVED)


def about(source: str) -> dict[str, Any]:
    """What has to be alike on all ranks, and where this one is."""
    import torch

    boot = pathlib.Path("/proc/sys/kernel/random/boot_id")
    found: dict[str, Any] = {"host": socket.gethostname(), "machine": boot.read_text(encoding="ascii") if boot.exists() else socket.gethostname(),
                             "gpu": os.environ.get("LOCAL_RANK"), "torch": torch.__version__}
    sys.path.insert(0, str(torch_tools()))
    from twin import own_module  # type: ignore[import-not-found]

    own_module.hide_tools()
    try:
        found["module"] = own_module.name_of(source)
    except TandemError as error:
        found["error"] = str(error)
    return found


def check_alike(ranks: list[dict[str, Any]]) -> None:
    """The first rank decides what is right."""
    for number, one in enumerate(ranks):
        if "error" in one:
            raise (TandemError if number else UsageError)(f"rank {number} on {one['host']}: {one['error']}")
        for what in ("module", "torch"):
            if one[what] != ranks[0][what]:
                raise TandemError(f"rank {number} on {one['host']} has {what} {one[what]}, and rank 0 {ranks[0][what]}: give all nodes the same "
                                  "file and the same torch")


def place_in(ranks: list[dict[str, Any]], number: int, count: int) -> dict[str, Any]:
    """Where a rank is in a launch of the first `count`: twin/place.py's Launch, without its store and name."""
    beside = [other for other in range(count) if ranks[other]["machine"] == ranks[number]["machine"]]
    on_host = [other for other in beside if ranks[other]["host"] == ranks[number]["host"]]
    gpu = ranks[number]["gpu"]
    return {"rank": number, "ranks": count, "index": beside.index(number), "count": len(beside),
            "gpu": on_host.index(number) if gpu is None else int(gpu),
            "hosts": list(dict.fromkeys(rank["host"] for rank in ranks[:count]))}


class Participant:
    """A rank's part in launches."""

    def __init__(self, rank: Rank, source: str) -> None:
        self.rank, self.store = rank, rank.join()
        self.source = os.path.abspath(source) if source.rpartition(":")[0].endswith(".py") else source
        self.store.set(f"about/{rank.number}", json.dumps(about(source)))
        self.ranks = [json.loads(self.get(f"about/{number}", f"rank {number}, which has not started")) for number in range(rank.count)]

    def get(self, key: str, what: str) -> bytes:
        try:
            return bytes(self.store.get(key))
        except RuntimeError as error:
            raise TandemError(f"rank {self.rank.number}: waiting for {what}: {' '.join(str(error).split())[:200]}") from error

    def take_part(self, number: int, order: dict[str, Any], may_go_on: Callable[[], bool] = lambda: True) -> Ended:
        where = place_in(self.ranks, self.rank.number, order["ranks"])
        launch = {**where, "store": self.rank.address, "name": f"{self.rank.prefix}/steps/{number}"}
        variables = {LAUNCH: json.dumps(launch), "RANK": where["rank"], "WORLD_SIZE": where["ranks"], "LOCAL_RANK": where["gpu"]}
        own = [f"--module={self.source}" if word.startswith("--module=") else word for word in order["words"]]

        def is_stopped() -> bool:
            return not may_go_on() or bool(self.store.check([f"stop/{number}"]))
        kept = kept_variables(removed_names(), self.rank.address[0], len(where["hosts"]) == 1)
        ended = run_child([sys.executable, "-B", str(torch_tools() / "step_twin"), *own],
                          {**kept, **{name: str(value) for name, value in variables.items()}},
                          is_stopped, PERIOD).of_rank(self.rank.number)
        if ended.status != 0:
            self.store.set(f"stop/{number}", "")
        self.store.set(f"end/{number}/{self.rank.number}", json.dumps(ended))
        return ended

    def follow(self) -> int:
        """Takes part until rank 0 says how all ended."""
        number = 0
        while True:
            order = json.loads(self.wait_for(f"order/{number}"))
            if "status" in order:
                self.store.set(f"left/{self.rank.number}", "")
                return int(order["status"])
            if self.rank.number < order["ranks"]:
                self.take_part(number, order)
            number += 1

    def wait_for(self, key: str) -> bytes:
        """However long it takes; a launcher ends ranks whose rank 0 is gone."""
        while True:
            try:
                self.store.wait([key], datetime.timedelta(seconds=PATIENCE))
                return self.get(key, "rank 0")
            except RuntimeError as error:
                if not re.search("time(d )?out", str(error), re.IGNORECASE):
                    raise TandemError(f"rank {self.rank.number}: rank 0 is gone: {' '.join(str(error).split())[:200]}") from error


class Conductor:
    """Rank 0: `tandem run`, and its launches, one after the other."""

    def __init__(self, participant: Participant) -> None:
        self.participant, self.store = participant, participant.store
        self.number, self.lost = 0, ""

    def answer(self, peer: socket.socket) -> None:
        # The launch may have been stopped, and its relay be gone.
        with contextlib.suppress(ConnectionError), peer, peer.makefile("rw", encoding="utf-8") as line:
            said = line.readline()
            if not said:
                return
            asked = json.loads(said)
            status, ended = (LOST, []) if self.lost else self.launch(peer, asked)
            answer = {"status": status, "out": "".join(one.out for one in ended), "err": "".join(one.err for one in ended) + self.lost}
            line.write(json.dumps(answer) + "\n")
            line.flush()

    def launch(self, peer: socket.socket, asked: dict[str, Any]) -> tuple[int, list[Ended]]:
        """The status, and how each rank ended. The relay says no second word: once it can be read, it is gone."""
        number, order = self.number, {"ranks": asked["ranks"], "words": asked["words"][COMMAND:]}
        self.number += 1
        self.store.set(f"order/{number}", json.dumps(order))
        own = self.participant.take_part(number, order, lambda: not select.select([peer], [], [], 0)[0])
        others = self.ends_of(number, range(1, order["ranks"]), own.status == 0)
        ended = [own, *(one for one in others if one)]
        silent = [rank for rank, one in enumerate(others, 1) if one is None]
        if silent:
            host = self.participant.ranks[silent[0]]["host"]
            self.lost = f"step_twin: rank {silent[0]} on {host} was lost: it did not say how its part of the launch ended\n"
            return LOST, ended
        statuses = [one.status for one in ended]
        return (2 if 2 in statuses else int(any(statuses))), ended

    def ends_of(self, number: int, ranks: range, is_well: bool) -> list[Optional[Ended]]:
        """How the others' parts ended, once this one's has; None of a rank that says nothing."""
        ends: dict[int, Ended] = {}
        for left in ([GRACE] if is_well else []) + [GRACE]:
            deadline = time.monotonic() + left
            while len(ends) < len(ranks) and time.monotonic() < deadline:
                for rank in set(ranks) - set(ends):
                    if self.store.check([f"end/{number}/{rank}"]):
                        ends[rank] = Ended(*json.loads(self.store.get(f"end/{number}/{rank}")))
                time.sleep(0.02)
            self.store.set(f"stop/{number}", "")
        return [ends.get(rank) for rank in ranks]

    def run(self, source: str, words: list[str]) -> int:
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{folder}/relay")
            listener.listen()
            variables = {name: value for name, value in os.environ.items() if not name.startswith(OF_RANKS)}
            command = [program(), "run", f"--module={source}", f"--devices={self.participant.rank.count}", f"--launcher={HERE / 'relay'}",
                       f"--with-torch={sys.executable}", *words]
            with starting(program()):
                child = subprocess.Popen([str(word) for word in command], env={**variables, "TANDEM_RELAY": f"{folder}/relay"},
                                         stdin=subprocess.DEVNULL)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda got, frame: child.send_signal(got))
            try:
                while child.poll() is None:
                    if select.select([listener], [], [], PERIOD)[0]:
                        self.answer(listener.accept()[0])
            finally:
                if child.poll() is None:
                    child.terminate()
                child.wait()
        return child.returncode

    def end(self, status: int) -> None:
        """All ranks end so. The store is rank 0's own with some launchers, and ends with it."""
        self.store.set(f"order/{self.number}", json.dumps({"status": status}))
        deadline = time.monotonic() + GRACE
        others = [f"left/{rank}" for rank in range(1, self.participant.rank.count)]
        while not self.lost and time.monotonic() < deadline and not all(self.store.check([key]) for key in others):
            time.sleep(0.05)


def check_words(words: list[str]) -> None:
    for word, after in zip(words, [*words[1:], ""]):
        name, equals, value = word.partition("=")
        if name in OURS:
            raise UsageError(f"leave out {name}: the launcher's ranks, this python and the first word set it")
        if name == "--cell" and (value if equals else after).split()[:1] == ["dp"]:
            raise UsageError("--cell=dp: DataParallel is one process with several devices, and a launcher's ranks have one each: measure it by "
                             "tandem run --module")


def conduct(participant: Participant, source: str, words: list[str]) -> int:
    conductor, status = Conductor(participant), 1
    try:
        check_alike(participant.ranks)
        status = conductor.run(source, words)
    except TandemError as error:
        status = error.exit_status
        raise
    finally:
        conductor.end(status)
    return status


def run_rank(rank: Rank, source: str, words: list[str]) -> int:
    try:
        check_words(words)
        participant = Participant(rank, source)
        return conduct(participant, source, words) if rank.number == 0 else participant.follow()
    except RuntimeError as error:
        raise TandemError(f"rank {rank.number}: the ranks' store at {rank.address[0]}:{rank.address[1]} is gone: "
                          f"{' '.join(str(error).split())[:200]}; see what rank 0 says") from error
    except UsageError as error:
        if rank.number == 0:
            raise
        time.sleep(QUIET)  # else the launcher may end rank 0 first
        return error.exit_status


def main() -> int:
    source, *words = sys.argv[1:]
    try:
        return run_rank(Rank(), source, words)
    except ImportError as error:
        print(f"tandem: {sys.executable}: {error}; a module needs torch: start the ranks by a python that has it", file=sys.stderr)
    except TandemError as error:
        print(f"tandem: {error}", file=sys.stderr)
        return error.exit_status
    return 1
