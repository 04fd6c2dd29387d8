# SPDX-License-Identifier: Apache-2.0
"""torchrun ... -m tandem FILE.py:FUNCTION [OPTION...]: this process is a rank, which torchrun, Slurm, Kubernetes or Ray started.

Rank 0 runs `tandem run --module`, which starts each launch by the program `relay` in place of mpirun. The first ranks take part
in a launch by a child each, PyTorch's side as mpirun starts it, with a store of torch's at MASTER_ADDR:MASTER_PORT:

    rank 0:    tandem run -> relay -> Conductor -> store: order/K
    each rank: store: order/K -> child -> store: end/K/RANK; stop/K too where the child fails, which ends the others'
    at the end: rank 0 sets order/K to a status, each other rank sets left/RANK

A launcher that has lost a rank ends the others by the signal by which a user ends all. Rank 0 then calls the ranks (`call`),
and those that do not say `here/RANK` are lost.
"""
from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from .children import Ended, kept_variables, run_child
from .command import starting
from .errors import TandemError, UsageError, first_line
from .place import HERE, program, torch_tools
from .ranks import about, check_alike, place_in

NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
EXAMPLE = "torchrun --nproc-per-node=2 -m tandem own.py:build --batch-per-device=8"
OURS = ("--module", "--devices", "--hosts", "--launcher", "--with-torch", "--pretend")
PATIENCE = 300  # seconds that ranks may start one after the other
GRACE = 15.0  # seconds in which ranks end by themselves once rank 0's child has, and again once they are stopped
MOST_RANKS = 1 << 20
CALLED = 5.0  # seconds in which a rank that is called says that it is there: more than PERIOD, less than launchers give
PERIOD = 0.5  # seconds between two looks at the store while a launch runs
LOOK = 0.2  # seconds between two looks for an order
QUIET = 2.0  # seconds in which rank 0 says what is wrong with the words that all ranks have
COMMAND = 3  # words of python, its option and step_twin, in whose place each rank has its own
OF_RANKS = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "OMPI_COMM_WORLD_", "SLURM_STEP_NUM_TASKS")
LOST = 3  # exit status of a launch after which none can be made: tools/tandem/launch/launcher.cc, relay
SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # torch shows its frames where a store is gone
        allowed = os.sched_getaffinity(0)
        from torch import distributed

        os.sched_setaffinity(0, allowed)  # OMP_PROC_BIND and the like have bound this thread to a core, and with it its children
        is_master = self.number == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        try:
            store = distributed.TCPStore(*self.address, self.count, is_master=is_master, timeout=datetime.timedelta(seconds=PATIENCE))
        except Exception as error:
            where = ":".join(map(str, self.address))
            raise TandemError(f"rank {self.number}: meeting the others at {where}: {first_line(error)[:200]}") from error
        return distributed.PrefixStore(self.prefix, store)


class Participant:
    """A rank's part in launches."""

    def __init__(self, rank: Rank, source: str) -> None:
        self.rank, self.store = rank, rank.join()
        self.source = os.path.abspath(source) if source.rpartition(":")[0].endswith(".py") else source
        self.store.set(f"about/{rank.number}", json.dumps(about(source)))
        self.ranks = [self.about(number) for number in range(rank.count)]

    def about(self, number: int) -> dict[str, Any]:
        try:
            return dict(json.loads(self.store.get(f"about/{number}")))
        except RuntimeError as error:
            raise TandemError(f"rank {self.rank.number}: waiting for rank {number}, which has not started: {first_line(error)[:200]}") from error

    def answer_call(self) -> None:
        if self.store.check(["call"]):
            self.store.set(f"here/{self.rank.number}", "")

    def take_part(self, number: int, order: dict[str, Any], may_go_on: Callable[[], bool] = lambda: True) -> Ended:
        from twin import place

        where = place_in(self.ranks, self.rank.number, order["ranks"])
        launch = {**where, "store": self.rank.address, "name": f"{self.rank.prefix}/steps/{number}"}
        variables = {place.LAUNCH: json.dumps(launch), "RANK": where["rank"], "WORLD_SIZE": where["ranks"], "LOCAL_RANK": where["gpu"]}
        own = [f"--module={self.source}" if word.startswith("--module=") else word for word in order["words"]]

        def is_stopped() -> bool:
            self.answer_call()
            return not may_go_on() or bool(self.store.check([f"stop/{number}"]))
        kept = kept_variables(place.REMOVED, self.rank.address[0], len(where["hosts"]) == 1)
        ended = run_child([sys.executable, "-B", str(torch_tools() / "step_twin"), *own],
                          {**kept, **{name: str(value) for name, value in variables.items()}},
                          is_stopped, PERIOD).of_rank(self.rank.number)
        if ended.status != 0:
            self.store.set(f"stop/{number}", "")
        self.store.set(f"end/{number}/{self.rank.number}", json.dumps(ended))
        return ended

    def follow(self) -> int:
        """Takes part until rank 0 says how all ended."""
        for number in SIGNALS:
            signal.signal(number, leave)
        try:
            return self.take_orders()
        except SystemExit:
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)  # a launcher may send one more
            for key in ("here", "left"):
                self.store.set(f"{key}/{self.rank.number}", "")
            raise

    def take_orders(self) -> int:
        number = 0
        while True:
            while not self.store.check([f"order/{number}"]):
                self.answer_call()
                time.sleep(LOOK)
            order = json.loads(self.store.get(f"order/{number}"))
            if "status" in order:
                self.store.set(f"left/{self.rank.number}", "")
                return int(order["status"])
            if self.rank.number < order["ranks"]:
                self.take_part(number, order)
            number += 1


def leave(number: int, frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


class Conductor:
    """Rank 0: `tandem run`, and its launches, one after the other."""

    def __init__(self, participant: Participant) -> None:
        self.participant, self.store = participant, participant.store
        self.number, self.lost = 0, ""
        self.signal, self.is_interrupted = 0, False

    def answer(self, peer: socket.socket, tandem: subprocess.Popen[bytes]) -> None:
        # The launch may have been stopped, and its relay be gone.
        with contextlib.suppress(ConnectionError), peer, peer.makefile("rw", encoding="utf-8") as line:
            asked = line.readline()
            if not asked:
                return
            ended = {} if self.lost else self.launch(peer, json.loads(asked), tandem)
            if self.is_interrupted:
                select.select([peer], [], [], GRACE)  # tandem run ends its relay
                return
            said = [ended[rank] for rank in sorted(ended)]
            statuses = [one.status for one in said]
            answer = {"status": LOST if self.lost else 2 if 2 in statuses else int(any(statuses)),
                      "out": "".join(one.out for one in said), "err": "".join(one.err for one in said) + self.lost}
            line.write(json.dumps(answer) + "\n")
            line.flush()

    def launch(self, peer: socket.socket, asked: dict[str, Any], tandem: subprocess.Popen[bytes]) -> dict[int, Ended]:
        """How each rank ended. The relay says no second word: once it can be read, it is gone."""
        number, order = self.number, {"ranks": asked["ranks"], "words": asked["words"][COMMAND:]}
        self.number += 1
        self.store.set(f"order/{number}", json.dumps(order))
        own = self.participant.take_part(number, order, lambda: not self.signal and not select.select([peer], [], [], 0)[0])
        silent = self.silent_in(number, range(1, order["ranks"]), own.status == 0)
        self.settle(tandem)
        if silent and not self.is_interrupted:
            self.lose(silent[0], "it did not say how its part of the launch ended")
        others = {rank: Ended(*json.loads(self.store.get(f"end/{number}/{rank}"))) for rank in set(range(1, order["ranks"])) - set(silent)}
        return {0: own, **others}

    def silent_in(self, number: int, ranks: range, is_well: bool) -> list[int]:
        """The ranks that do not say how their parts ended, once this one's has."""
        silent = list(ranks)
        for _ in range(2 if is_well else 1):
            silent = self.without(f"end/{number}", silent, GRACE, lambda: bool(self.signal))
            self.store.set(f"stop/{number}", "")
        return silent

    def without(self, key: str, ranks: Iterable[int], seconds: float, is_over: Callable[[], bool] = lambda: False) -> list[int]:
        """The ranks that do not set their key in that time."""
        left, deadline = list(ranks), time.monotonic() + seconds
        while left and time.monotonic() < deadline and not is_over():
            left = [rank for rank in left if not self.store.check([f"{key}/{rank}"])]
            time.sleep(0.02)
        return left

    def lose(self, rank: int, why: str) -> None:
        self.lost = self.lost or f"step_twin: rank {rank} on {self.participant.ranks[rank]['host']} was lost: {why}\n"

    def settle(self, tandem: subprocess.Popen[bytes]) -> None:
        """After a signal: a rank is lost, or `tandem run` is to end as well."""
        got, self.signal = self.signal, 0
        if not got or self.lost:
            return
        gone: list[int] = []
        with contextlib.suppress(RuntimeError):  # the store may have ended first
            self.store.set("call", "")
            gone = [] if self.is_interrupted else self.without("here", range(1, self.participant.rank.count), CALLED)
        if gone:
            self.lose(gone[0], "its launcher ended the others")
            return
        self.is_interrupted = True
        tandem.send_signal(got)

    def note(self, number: int, frame: Any) -> None:
        self.signal = number

    def run(self, source: str, words: list[str]) -> int:
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{folder}/relay")
            listener.listen()
            variables = {name: value for name, value in os.environ.items() if not name.startswith(OF_RANKS)}
            command = [program(), "run", f"--module={source}", f"--devices={self.participant.rank.count}", f"--launcher={HERE / 'relay'}",
                       f"--with-torch={sys.executable}", *words]
            with starting(program()):
                # The child has a session of its own, since a launcher signals a rank's whole group.
                tandem = subprocess.Popen([str(word) for word in command], env={**variables, "TANDEM_RELAY": f"{folder}/relay"},
                                          stdin=subprocess.DEVNULL, start_new_session=True)
            for number in SIGNALS:
                signal.signal(number, self.note)
            try:
                while tandem.poll() is None:
                    self.settle(tandem)
                    if select.select([listener], [], [], PERIOD)[0]:
                        self.answer(listener.accept()[0], tandem)
            finally:
                if tandem.poll() is None:
                    tandem.terminate()
                tandem.wait()
        return tandem.returncode

    def end(self, status: int) -> None:
        """All ranks end so. The store is rank 0's own with some launchers, and ends with it."""
        with contextlib.suppress(RuntimeError):
            self.store.set(f"order/{self.number}", json.dumps({"status": status}))
            self.without("left", [] if self.lost else range(1, self.participant.rank.count), GRACE)


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
                          f"{first_line(error)[:200]}; see what rank 0 says") from error
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
