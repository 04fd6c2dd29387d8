#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --check finds, by the matcher alone and by jobs of small programs on the libraries: check_test.py LIBRARIES STARTER"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

STARTER = pathlib.Path(sys.argv.pop()).resolve()
LIBRARIES = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(STARTER))
import report
from matcher import Matcher, Process

sys.argv[1:] = []


class Ranks(unittest.TestCase):
    """Processes of a job whose communicator 1 has them all; each rank's calls go to one stream."""

    def start(self, ranks, known=True):
        self.reported = []
        self.matcher = Matcher(lambda process, number, call: self.reported.append((process.rank, number, call)))
        self.ranks = [Process(rank, ranks if known else None) for rank in range(ranks)]
        self.calls = {}
        self.join(1, *range(ranks))

    def join(self, number, *ranks):
        for place, rank in enumerate(ranks):
            self.matcher.join(self.ranks[rank], number, f"made-{number}-{ranks}", place, len(ranks))
            self.calls[rank, number] = 1

    def call(self, rank, operation="all-reduce", count=4, kind="f32", reduction=0, root=-1, communicator=1, before=None):
        """A call behind all earlier ones of the rank, or behind those given."""
        earlier = [(number, call) for (of, number), call in self.calls.items() if of == rank]
        self.matcher.call(self.ranks[rank], communicator, operation, count, kind, reduction, root, earlier if before is None else before,
                          f"train.py:{10 + rank}")
        self.calls[rank, communicator] += 1

    def wait(self, *ranks, main=True):
        for rank in ranks:
            self.matcher.wait(self.ranks[rank], main, [(number, call) for (of, number), call in self.calls.items() if of == rank])

    def end(self, rank, how="exit status 0"):
        self.matcher.end(self.ranks[rank], how)

    def found(self, *lines):
        """The finding that is certain."""
        found = report.certain(self.matcher)
        self.assertEqual(found and found.text(), "\n".join(lines) or None)


class Matched(Ranks):
    def test_calls_are_complete_once_all_have_made_them(self):
        self.start(2)
        self.reported.clear()
        self.call(0)
        self.wait(0)
        self.assertEqual((self.reported, len(self.ranks[0].waits)), ([], 1))
        self.found()
        self.call(1)
        self.assertEqual((sorted(self.reported), self.ranks[0].waits), ([(0, 1, 2), (1, 1, 2)], []))

    def test_sends_and_receives_of_a_group_go_round(self):
        self.start(3)
        for rank in range(3):
            for operation, step in (("send", 1), ("receive", -1)):
                for count in (4, 5):
                    self.call(rank, operation, count=count, root=(rank + step) % 3, before=[])
        self.wait(0, 1, 2)
        self.found()
        self.assertEqual([rank.waits for rank in self.ranks], [[], [], []])

    def test_calls_that_begin_at_once_are_complete_at_once(self):
        self.start(3)
        self.join(2, 0, 1)
        for rank in (0, 1):
            self.call(rank, communicator=1)
            self.call(rank, communicator=2)
        self.wait(0, 1)
        self.call(2, communicator=1)
        self.assertEqual([rank.waits for rank in self.ranks], [[], [], []])

    def test_an_abort_lets_its_own_process_go(self):
        self.start(2)
        self.call(0)
        self.wait(0)
        self.matcher.leave(self.ranks[0], 1, True)
        self.assertEqual(self.ranks[0].waits, [])

    def test_two_ranks_of_one_process(self):
        self.start(1)
        self.matcher.join(self.ranks[0], 2, "both", 0, 2)
        self.matcher.join(self.ranks[0], 3, "both", 1, 2)
        self.calls.update({(0, 2): 1, (0, 3): 1})
        self.call(0, communicator=2, before=[])
        self.wait(0)
        self.found()  # another thread may make the other call
        self.call(0, count=5, communicator=3, before=[])
        self.found("pretended GPUs: differs: the count of a call on communicator 2 differs: 4 in the 1st all-reduce of rank 0, 5 in the 1st "
                   "all-reduce of rank 1",
                   "  rank 0: called; 1st all-reduce 4 f32 on communicator 2: train.py:10",
                   "  rank 1: called; 1st all-reduce 5 f32 on communicator 2: train.py:10")


class Certain(Ranks):
    def test_a_rank_that_ended_one_call_early(self):
        self.start(2)
        for rank in (0, 1):
            for _ in range(5 + (rank == 0)):
                self.call(rank, count=68)
        self.wait(0)
        self.found()
        self.end(1)
        self.ranks[0].line = "train.py:17"
        self.found("pretended GPUs: ended: rank 1 ended after 5 all-reduces on communicator 1; rank 0 waits in the 6th",
                   "  rank 0: waits; 6th all-reduce 68 f32 on communicator 1: train.py:17",
                   "  rank 1: ended with exit status 0; 5th all-reduce 68 f32 on communicator 1")

    def test_a_call_more_that_nobody_waits_for(self):
        self.start(2)
        self.call(1)
        self.end(1)
        self.found()
        self.end(0, "signal 9")
        self.found("pretended GPUs: ended: rank 0 ended after 0 all-reduces on communicator 1; rank 1 has made the 1st",
                   "  rank 0: ended with signal 9; making communicator 1 of 2 ranks",
                   "  rank 1: ended with exit status 0; 1st all-reduce 4 f32 on communicator 1")

    def test_a_rank_that_ended_before_it_joined(self):
        self.start(0)
        self.ranks = [Process(0, 2), Process(1, 2)]
        self.matcher.hello(self.ranks[1])
        self.join(1, 0)
        self.matcher.communicators.clear()
        self.matcher.join(self.ranks[0], 2, "of-two", 0, 2)
        self.calls[0, 2] = 1
        self.wait(0)
        self.found()
        self.end(1, "exit status 1")
        self.assertIn("ended: rank 1 ended before communicator 1 was made; rank 0 waits in making it", report.certain(self.matcher).text())

    def test_a_rank_that_comes_again_is_another_jobs(self):
        self.start(2)
        self.end(0)
        self.end(1)
        again = Process(0, 2)
        self.matcher.join(again, 1, "of-another-job", 0, 2)
        self.matcher.wait(again, True, [(1, 1)])
        self.found()  # its rank 1 may come
        self.assertEqual(again.waits[0].outstanding, 1)

    def test_calls_that_do_not_match(self):
        for key, one, other in (("operation", {}, {"operation": "all-gather"}), ("count", {}, {"count": 5}), ("type", {}, {"kind": "i64"}),
                                ("reduction", {}, {"reduction": 2}), ("root", {"operation": "broadcast", "root": 0},
                                                                      {"operation": "broadcast", "root": 1})):
            with self.subTest(key):
                self.start(2)
                self.call(0, **one)
                self.call(1, **other)
                found = report.certain(self.matcher)
                self.assertEqual((found.kind, found.sentence.split()[:2]), ("differs", ["the", key]))

    def test_a_send_of_another_size_than_its_receive(self):
        self.start(2)
        self.call(0, "send", count=4, root=1)
        self.call(1, "receive", count=8, root=0)
        self.assertIn("the count of a call on communicator 1 differs: 4 in the 1st send of rank 0", report.certain(self.matcher).text())

    def test_a_send_to_a_rank_that_receives_from_another(self):
        self.start(3)
        self.call(0, "send", root=1)
        self.call(1, "receive", root=2)
        self.wait(0, 1)
        self.found()
        self.call(2)
        self.wait(2)
        self.assertIn("differs: the peer of a call", report.certain(self.matcher).text())

    def test_two_communicators_in_crossed_order(self):
        for hosts_wait in (True, False):
            with self.subTest(hosts_wait=hosts_wait):
                self.start(2)
                self.join(2, 0, 1)
                self.call(0, communicator=1)
                self.call(1, communicator=2)
                if not hosts_wait:  # the devices wait alone
                    self.call(0, communicator=2)
                    self.call(1, communicator=1)
                else:
                    self.wait(0, 1)
                first, *lines = report.certain(self.matcher).text().splitlines()
                self.assertIn("order: communicators 1 and 2 are used in crossed order", first)
                self.assertEqual([line[:16] for line in lines], ["  rank 0: waits;", "  rank 1: waits;"] if hosts_wait else
                                 [f"  rank {rank}: called" for rank in (0, 0, 1, 1)])

    def test_sends_that_each_come_before_the_receive(self):
        self.start(2)
        for rank in (0, 1):
            self.call(rank, "send", root=1 - rank)
            self.call(rank, "receive", root=1 - rank)
        self.wait(0, 1)
        self.assertIn("order: calls on communicator 1 stand in crossed order", report.certain(self.matcher).text())

    def test_ranks_that_all_receive(self):
        self.start(2)
        for rank in (0, 1):
            self.call(rank, "receive", root=1 - rank)
        self.wait(0)
        self.found()
        self.wait(1)
        self.found("pretended GPUs: waits: ranks 0, 1 wait for calls that no rank will make any more",
                   "  rank 0: waits; 1st receive 4 f32 peer 1 on communicator 1: line unknown",
                   "  rank 1: waits; 1st receive 4 f32 peer 0 on communicator 1: line unknown")

    def test_the_call_that_is_stuck_is_named_and_no_other(self):
        self.start(3)
        self.join(2, 0, 1)
        for rank in (0, 1):
            self.call(rank, before=[])
            self.call(rank, "receive", root=1 - rank, communicator=2, before=[])
        self.wait(0, 1)
        self.assertIn("  rank 0: waits; 1st receive 4 f32 peer 1 on communicator 2: line unknown", report.certain(self.matcher).text().splitlines())

    def test_the_first_call_that_an_ended_rank_never_made_is_named(self):
        self.start(2)
        self.join(2, 0, 1)
        self.call(0, communicator=2)
        self.call(0, communicator=1)
        self.end(1)
        self.assertIn("after 0 all-reduces on communicator 2; rank 0 has made the 1st", report.certain(self.matcher).text())

    def test_a_thread_that_waits_beside_a_main_thread_that_does_not(self):
        self.start(2)
        for rank in (0, 1):
            self.call(rank, "receive", root=1 - rank)
            self.wait(rank, main=False)
        self.found()
        for rank in self.ranks:
            rank.main_waits = True
        self.assertEqual(report.certain(self.matcher).kind, "waits")

    def test_a_communicator_whose_ranks_are_not_known_yet(self):
        self.start(2)
        self.ranks.append(Process(2, 3))
        self.ranks[0].world = self.ranks[1].world = 3
        self.matcher.join(self.ranks[0], 2, "part", 0, 2)
        self.calls[0, 2] = 1
        self.wait(0)
        self.call(1)
        self.wait(1)
        self.found()  # the third process may be the other one
        self.matcher.hello(self.ranks[2])
        self.found()
        self.end(2)
        self.found()  # its command may start another process yet
        self.ranks[2].ended_at -= 1
        self.assertEqual(report.certain(self.matcher).kind, "ended")

    def test_a_rank_that_was_started_again(self):
        self.start(2)
        self.end(1, "exit status 1")
        self.ranks[1] = Process(1, 2)
        self.matcher.hello(self.ranks[1])
        self.matcher.join(self.ranks[0], 2, "again", 0, 2)
        self.calls[0, 2] = 1
        self.wait(0)
        self.found()
        self.matcher.join(self.ranks[1], 2, "again", 1, 2)
        self.assertEqual(self.ranks[0].waits, [])


class Suspected(Ranks):
    def test_a_rank_that_is_late_for_longer_than_the_patience(self):
        self.start(2)
        self.call(0)
        self.wait(0)
        self.found()
        self.assertIsNone(report.suspected(self.matcher, 30))
        self.ranks[0].waits[0].since -= 31
        self.ranks[1].line = "load.py:3"
        self.assertEqual(report.suspected(self.matcher, 30).text().splitlines(), [
            "pretended GPUs: suspected: rank 1 is late: rank 0 has waited 31 s in the 1st all-reduce",
            "  rank 0: waits; 1st all-reduce 4 f32 on communicator 1: line unknown", "  rank 1: late: load.py:3"])

    def test_a_rank_that_torchs_watchdog_ended(self):
        self.start(2)
        self.call(0)
        self.wait(0)
        self.end(0, "signal 15")
        self.assertIsNone(report.suspected(self.matcher, 30))
        self.end(0, "signal 6")
        self.assertIn("rank 1 is late: rank 0 gave up after 0 s", report.suspected(self.matcher, 30).text())


# A rank of a job: loads the libraries and does what its lines say.
PROGRAM = """
import ctypes, os, sys, time
nccl, cuda = ctypes.CDLL("libnccl.so.2"), ctypes.CDLL("libcudart.so.13")
class Id(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 128)]
rank, null = int(os.environ["RANK"]), ctypes.c_void_p()
memory, communicator, event = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cudaSetDevice(rank)
cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_uint64(4096))
cuda.cudaEventCreate(ctypes.byref(event))
size, pinned, behind, beside = ctypes.c_uint64(4096), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cudaMallocHost(ctypes.byref(pinned), size)
for stream in (behind, beside):
    cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
def reduce(count=100): nccl.ncclAllReduce(memory, memory, ctypes.c_uint64(count), 7, 0, communicator, null)
join = lambda: nccl.ncclCommInitRank(ctypes.byref(communicator), 2, Id(os.environ["TANDEM_PRETEND_CHECK"].encode() + b"-test"), rank)
sync = cuda.cudaDeviceSynchronize
"""
OWN = PROGRAM.count("\n")  # lines before a rank's own

# Its status is the last rank's. Without its site, Python itself imports little, such as no module `threading`.
LAUNCHER = """
import os, subprocess, sys
ranks = [subprocess.Popen([sys.executable, "-S", f"rank{{rank}}.py"], env=dict(os.environ, RANK=str(rank), WORLD_SIZE="{ranks}"))
         for rank in range({ranks})]
sys.exit([rank.wait() for rank in ranks][-1])
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def start(self, *ranks, patience=60, before=(), launcher=LAUNCHER):
        """A job of one program per rank; the words in `before` stand in front of its command."""
        for rank, lines in enumerate(ranks):
            (self.folder / f"rank{rank}.py").write_text(PROGRAM + lines)
        run = f"import job, os, sys; sys.exit(job.Job({patience}).run([sys.executable, '-c', sys.argv[1]], dict(os.environ, **eval(sys.argv[2]))))"
        variables = {"LD_LIBRARY_PATH": str(LIBRARIES), "LD_PRELOAD": str(LIBRARIES / "libtandem_pretend.so"), "TANDEM_PRETEND_GPUS": "2"}
        return subprocess.Popen([*before, sys.executable, "-B", "-c", run, launcher.format(ranks=len(ranks)), repr(variables)],
                                cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(STARTER)})

    def outcome(self, *ranks, **options):
        job = self.start(*ranks, **options)
        out, errors = job.communicate(timeout=100)
        self.assertEqual(self.left_by(job), [])
        return job.returncode, out, errors

    def left_by(self, job):
        return list(pathlib.Path("/dev/shm").glob(f"tandem-pretended-{job.pid}-*"))

    def test_the_host_waits_for_the_others_and_the_status_is_the_commands(self):
        for wait in ("sync()", "cuda.cudaStreamSynchronize(behind)", "cuda.cudaEventSynchronize(event)",
                     "cuda.cudaMemcpyAsync(ctypes.create_string_buffer(4096), memory, size, 2, behind)",
                     "cuda.cudaMemcpy(pinned, memory, size, 2)"):
            with self.subTest(wait):
                status, out, _ = self.outcome(
                    "join(); reduce(); cuda.cudaEventRecord(event, null); cuda.cudaStreamWaitEvent(behind, event, 0)\n"
                    "cuda.cudaMemcpyAsync(pinned, memory, size, 2, null)\n"
                    "print(*(cuda.cudaStreamQuery(stream) for stream in (null, behind, beside)), cuda.cudaEventQuery(event))\n"
                    "cuda.cudaStreamSynchronize(beside); open('waits', 'w')\n" + wait +
                    "\nprint(cuda.cudaEventQuery(event), time.monotonic() > float(open('called').read()))",
                    "join()\nwhile not os.path.exists('waits'): time.sleep(0.01)\n"
                    "time.sleep(0.3); open('made', 'w').write(str(time.monotonic())); os.rename('made', 'called'); reduce(); sync()\n"
                    "os.remove('waits'); sys.exit(7)")
                self.assertEqual((status, out.split()), (7, ["600", "600", "0", "600", "0", "True"]))
                (self.folder / "called").unlink()

    def test_a_rank_that_ends_early_is_named_with_the_others_line(self):
        started = time.monotonic()
        status, _, errors = self.outcome("join()\nfor step in range(3):\n    reduce()\n    sync()", "join()\nreduce()\nreduce()\nsync()\nsys.exit(5)")
        self.assertEqual((status, errors.splitlines()), (3, [
            "pretended GPUs: ended: rank 1 ended after 2 all-reduces on communicator 1; rank 0 waits in the 3rd",
            f"  rank 0: waits; 3rd all-reduce 100 f32 on communicator 1: rank0.py:{OWN + 4}",
            "  rank 1: ended with exit status 5; 2nd all-reduce 100 f32 on communicator 1"]))
        self.assertLess(time.monotonic() - started, 30)

    def test_a_killed_rank_before_all_have_joined(self):
        status, _, errors = self.outcome("join()", "os.kill(os.getpid(), 9)")
        self.assertEqual(status, 3)
        self.assertIn("ended: rank 1 ended before communicator 1 was made; rank 0 waits in making it", errors)
        self.assertIn("rank 1: ended with signal 9", errors)

    def test_two_jobs_at_once_know_nothing_of_each_other(self):
        whole = self.start("join(); reduce(); sync()", "join(); time.sleep(2); reduce(); sync(); sys.exit(7)")
        self.setUp()  # another folder
        self.assertEqual(self.outcome("join(); reduce(); sync()", "join()")[0], 3)
        whole.communicate(timeout=100)
        self.assertEqual((whole.returncode, self.left_by(whole)), (7, []))

    def test_without_room_in_shared_memory_each_rank_says_so_and_no_file_is_left(self):
        small = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"', "sh"]
        if subprocess.run([*small, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no file system can be mounted here")
        status, out, errors = self.outcome("print(join())", "print(join()); time.sleep(2); print(os.listdir('/dev/shm')); sys.exit(7)",
                                           before=small)
        self.assertEqual((status, sorted(out.split())), (7, ["2", "2", "[]"]))  # ncclSystemError
        self.assertRegex(errors, r"^(pretended libnccl.so.2: 2 ranks cannot meet in /dev/shm/.*: No space left on device; free space in "
                                 r"/dev/shm\n){2}$")

    def test_ranks_that_outlive_their_launcher(self):
        status, _, errors = self.outcome("join(); reduce(); sync()", "join(); time.sleep(1)",
                                         launcher=LAUNCHER.replace("[rank.wait() for rank in ranks][-1]", "0"))
        self.assertEqual(status, 3)
        self.assertIn("ended: rank 1 ended after 0 all-reduces on communicator 1; rank 0 waits in the 1st", errors)

    def test_a_call_that_does_not_match_is_named_where_it_was_made(self):
        status, _, errors = self.outcome("join()\nreduce()\nsync()", "join()\nreduce(101)\nsync()")
        self.assertEqual(status, 3)
        line = PROGRAM[:PROGRAM.index("def reduce")].count("\n") + 1
        for rank, count in ((0, 100), (1, 101)):
            self.assertIn(f"rank {rank}: called; 1st all-reduce {count} f32 on communicator 1: rank{rank}.py:{line}\n", errors)

    def test_a_late_rank_is_suspected_after_the_patience(self):
        status, _, errors = self.outcome("join()\nwhile not os.path.exists('sleeps'): time.sleep(0.01)\nreduce()\nsync()",
                                         "join()\nopen('sleeps', 'w'); time.sleep(100)", patience=1)
        self.assertEqual(status, 3)
        self.assertRegex(errors, r"suspected: rank 1 is late: rank 0 has waited \d+ s in the 1st all-reduce")
        self.assertIn(f"rank 1: late: rank1.py:{OWN + 2}", errors)

    def test_ends_the_job_where_it_is_ended_itself(self):
        job = self.start("join()", "print(os.getpid(), flush=True); time.sleep(100)")
        pid = int(job.stdout.readline())
        job.send_signal(signal.SIGTERM)
        _, errors = job.communicate(timeout=30)
        self.assertEqual((job.returncode, errors), (128 + signal.SIGTERM, ""))
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())
        self.assertEqual(self.left_by(job), [])

    def test_a_program_that_is_none(self):
        run = "import job, refusal\ntry: job.Job(1).run(['no-such-program'], {})\nexcept refusal.Failure as failure: print(failure)"
        done = subprocess.run([sys.executable, "-B", "-c", run], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(STARTER)})
        self.assertEqual(done.stdout, "running no-such-program: No such file or directory; check the command behind --\n")


if __name__ == "__main__":
    unittest.main()
