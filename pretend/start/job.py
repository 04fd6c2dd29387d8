# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose communicators are checked: hears what its processes call and wait for, reports to them what is complete, and
ends the whole job with a report where it can never end by itself."""
import ctypes
import os
import pathlib
import secrets
import selectors
import signal
import socket
import struct
import sys
import time

import report
from matcher import Matcher, Process
from refusal import Failure

FOUND = 3  # exit status
CHILD_SUBREAPER = 36  # prctl: processes that lose their parent in the job become ours
STILL = 0.1  # seconds without a message, after which it is worth to look for who waits
SELDOM = 0.5  # seconds between two looks while messages come
LINE_LIMIT = {"suspected": 10.0}  # seconds for a process to say where it is, else 1: a late one has little else to tell
MAIN_WAITS_IN = ("/torch/autograd/graph.py", "/torch/autograd/__init__.py", "/threading.py")  # of threads
GRACE = 3.0  # seconds between asking the job to end and making it


class Peer:
    """One process's connection."""

    def __init__(self, connection):
        self.socket = connection
        self.pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
        self.process = Process()
        self.heard = b""
        self.unsent = b""
        self.asked = 0.0  # when it was asked for its line
        self.answered = False
        self.status = None  # as wait() gives it, where it has said so or the system does


def facts_of(pid):
    """The parent, the state and the exit code of a process by /proc; None where it is gone."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return int(words[1]), words[0], int(words[-1])


def descendants():
    children = {}
    for entry in os.listdir("/proc"):
        facts = facts_of(entry) if entry.isdigit() else None
        if facts and facts[1] not in "ZX":
            children.setdefault(facts[0], []).append(int(entry))
    found = [os.getpid()]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


def how_ended(status):
    """In words, by a status as wait() gives it."""
    if status is None:
        return "a signal"
    return f"signal {status & 0x7f}" if status & 0x7f else f"exit status {status >> 8}"


def maybe(word):
    return None if word == "-" else int(word)


def calls_of(word):
    return [] if word == "-" else [tuple(map(int, call.split(":"))) for call in word.split(",")]


class Job:
    def __init__(self, patience):
        self.patience = patience
        self.matcher = Matcher(self.tell)
        self.peers = {}  # by process
        self.ending = []  # peers whose connection is closed
        self.statuses = {}  # of processes that this one has waited for
        self.selector = selectors.DefaultSelector()
        self.listener = socket.socket(socket.AF_UNIX)
        # The socket's name, which is abstract and no file; names of communicators' files begin with it.
        self.name = f"tandem-pretended-{os.getpid()}-{secrets.token_hex(4)}"
        self.listener.bind("\0" + self.name)
        self.listener.listen(1024)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.signal = 0  # that asked this process to end
        self.looked = 0.0
        self.has_news = False

    def run(self, command, environment):
        """The exit status of the command, or FOUND."""
        ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
        self.watch_signals()
        try:
            child = os.posix_spawnp(command[0], command, {**environment, "TANDEM_PRETEND_CHECK": self.name})
        except OSError as error:
            raise Failure(f"running {command[0]}: {error.strerror}; check the command behind --") from error
        found = None
        try:
            found = self.follow(child)
            if found:
                self.ask_for_lines(found)
        finally:
            if child not in self.statuses or found or self.signal:
                self.end_all()
            self.remove_files()
        if found:  # said last: launchers that are ended say much
            print(found.text(), file=sys.stderr, flush=True)
        status = self.statuses.get(child, 0)
        signalled = self.signal or status & 0x7f
        return FOUND if found else 128 + signalled if signalled else status >> 8

    def watch_signals(self):
        woken, waker = socket.socketpair()
        for end in (woken, waker):
            end.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self.wakers = woken, waker
        self.selector.register(woken, selectors.EVENT_READ)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                signal.signal(number, self.note_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def note_signal(self, number, _):
        self.signal = number

    def follow(self, child):
        """The finding, or None once the command and all ranks have ended, or this process is to end."""
        while not self.signal:
            has_heard = self.hear(STILL)
            has_ended = self.reap()
            is_over = child in self.statuses and not self.ending and not any(
                process in self.peers or process.may_come_again() for process in self.matcher.processes)  # helpers may go on
            look = has_ended or is_over or not has_heard or time.monotonic() - self.looked > SELDOM
            found = self.verdict() if look or self.matcher.differs else None
            if found or is_over:
                return found
        return None

    def verdict(self):
        """Looks for what is certain where something is new, and for who is late."""
        self.looked = time.monotonic()
        has_news, self.has_news = self.has_news, any(process.may_come_again() for process in self.matcher.processes)
        found = report.certain(self.matcher) if has_news else None
        for peer in self.peers.values():
            waits = peer.process.waits
            # Its launcher may end it soon. A main thread may come to wait for a thread that waits.
            is_old = peer.answered and self.looked - peer.asked > 1
            if waits and (peer.asked < waits[-1].since or is_old and not any(wait.main for wait in waits)):
                self.ask(peer)
        return found or report.suspected(self.matcher, self.patience)

    def hear(self, seconds):
        ready = self.selector.select(seconds)
        for key, events in ready:
            if key.fileobj is self.listener:
                self.accept()
            elif key.fileobj is self.wakers[0]:
                self.wakers[0].recv(4096)
            elif events & selectors.EVENT_WRITE:
                self.send(key.data)
            else:
                self.read(key.data)
        return bool(ready)

    def accept(self):
        peer = Peer(self.listener.accept()[0])
        peer.socket.setblocking(False)
        self.peers[peer.process] = peer
        self.selector.register(peer.socket, selectors.EVENT_READ, peer)

    def read(self, peer):
        try:
            heard = peer.socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            self.selector.unregister(peer.socket)
            peer.socket.close()
            del self.peers[peer.process]
            self.ending.append(peer)
            facts = facts_of(peer.pid)
            if peer.status is None and facts:  # its launcher may take it away soon
                peer.status = facts[2] or None
            return
        *lines, peer.heard = (peer.heard + heard).split(b"\n")
        for line in lines:
            word, *words = line.decode(errors="replace").split(" ")
            getattr(self, f"hear_{word}")(peer, *words)

    def hear_hello(self, peer, rank, world):
        peer.process.rank, peer.process.world = maybe(rank), maybe(world)
        for earlier in [earlier for earlier in self.ending if earlier.pid == peer.pid]:  # the same process, by exec()
            self.ending.remove(earlier)
            self.matcher.forget(earlier.process)
        self.matcher.hello(peer.process)

    def hear_join(self, peer, number, name, rank, ranks, global_rank, world):
        peer.process.rank, peer.process.world = maybe(global_rank), maybe(world)
        self.matcher.join(peer.process, int(number), name, int(rank), int(ranks))
        self.has_news = True

    def hear_call(self, peer, number, operation, count, kind, reduction, root, before, line, _):
        self.matcher.call(peer.process, int(number), operation, int(count), kind, int(reduction), int(root), calls_of(before),
                          line.replace("?", " "))
        self.has_news = True

    def hear_wait(self, peer, main, before):
        self.matcher.wait(peer.process, main == "1", calls_of(before))
        peer.process.line = None
        self.has_news = True

    def hear_leave(self, peer, number, aborted):
        self.matcher.leave(peer.process, int(number), aborted == "1")

    def hear_exit(self, peer, status):
        peer.status = int(status) << 8

    def hear_line(self, peer, line, inner):
        peer.process.line = None if line == "-" else line.replace("?", " ")
        peer.process.main_waits = inner.endswith(MAIN_WAITS_IN)
        peer.answered = True
        self.has_news = True

    def ask(self, peer):
        peer.asked, peer.answered = time.monotonic(), False
        peer.unsent += b"line\n"
        self.send(peer)

    def ask_for_lines(self, found):
        peers = [self.peers[process] for process in found.processes() if process in self.peers]
        for peer in peers:
            self.ask(peer)
        limit = time.monotonic() + LINE_LIMIT.get(found.kind, 1.0)
        while time.monotonic() < limit and not all(peer.answered or peer in self.ending for peer in peers):
            self.hear(STILL)

    def tell(self, process, number, call):
        if process in self.peers:
            self.peers[process].unsent += b"done %d %d\n" % (number, call)
            self.send(self.peers[process])

    def send(self, peer):
        """What a socket does not take yet goes later."""
        try:
            peer.unsent = peer.unsent[peer.socket.send(peer.unsent):]
        except BlockingIOError:
            pass
        except OSError:
            peer.unsent = b""  # it has ended, which reading will say
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.unsent else 0)
        self.selector.modify(peer.socket, events, peer)

    def reap(self):
        """Whether a process of a rank has ended."""
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
            while pid:
                self.statuses[pid] = status
                pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pass
        over = []
        for peer in self.ending:
            facts = facts_of(peer.pid)
            if peer.pid in self.statuses or facts is None or facts[1] in "ZX":
                status = peer.status if facts is None else facts[2]
                self.matcher.end(peer.process, how_ended(self.statuses.get(peer.pid, status)))
                over.append(peer)
        self.ending = [peer for peer in self.ending if peer not in over]
        self.has_news = self.has_news or bool(over)
        return bool(over)

    def end_all(self):
        """Ends the job's processes, whoever their parent is."""
        limit = time.monotonic() + GRACE
        number = signal.SIGTERM
        while (processes := descendants()) and time.monotonic() < limit + GRACE:
            for pid in processes:
                try:
                    os.kill(pid, number)
                except (ProcessLookupError, PermissionError):
                    pass
            number = 0 if time.monotonic() < limit else signal.SIGKILL
            time.sleep(0.02)
        self.reap()

    def remove_files(self):
        for file in pathlib.Path("/dev/shm").glob(f"{self.name}-*"):
            file.unlink(missing_ok=True)
