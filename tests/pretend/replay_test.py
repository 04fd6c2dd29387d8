#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tandem replay` of a step that Python takes on pretended GPUs by ctypes, without torch.

    replay_test.py TANDEM LIBRARIES
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TANDEM, LIBRARIES = map(pathlib.Path, sys.argv[1:3])

# Two steps on two GPUs, the second GPU's work by a thread; the mark "end" keeps what lies between out.
PROGRAM = """
import ctypes, threading
def lib(name): return ctypes.CDLL(f"{libraries}/{name}")
cuda, nccl, core = lib("libcudart.so.13"), lib("libnccl.so.2"), lib("libtandem_pretend.so")
size, pointer = ctypes.c_size_t, ctypes.c_void_p
memory, comms = pointer(), (pointer * 2)()
cuda.cudaMalloc(ctypes.byref(memory), size(1 << 26))
nccl.ncclCommInitAll(comms, 2, None)
def fill(device):
    cuda.cudaSetDevice(device)
    cuda.cudaMemsetAsync(memory, 0, size(1 << 26), None)
for step in range(2):
    core.tandem_pretend_mark(b"step")
    thread = threading.Thread(target=fill, args=(1,))
    thread.start()
    fill(0)
    thread.join()
    nccl.ncclGroupStart()
    for comm in comms: nccl.ncclAllReduce(memory, memory, size(1 << 20), 7, 0, pointer(comm), None)
    nccl.ncclGroupEnd()
    for device in range(2):
        cuda.cudaSetDevice(device)
        cuda.cudaDeviceSynchronize()
    core.tandem_pretend_mark(b"end")
    fill(0)
"""


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.log = pathlib.Path(cls.folder.name) / "calls"
        env = os.environ | {"TANDEM_PRETEND_GPUS": "2", "TANDEM_PRETEND_LOG": str(cls.log), "LD_LIBRARY_PATH": str(LIBRARIES),
                            "LD_PRELOAD": str(LIBRARIES / "libtandem_pretend.so")}
        subprocess.run([sys.executable, "-c", f"libraries = {str(LIBRARIES)!r}\n" + PROGRAM], env=env, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def replay(self, *words):
        return subprocess.run([TANDEM, "replay", *words], capture_output=True, text=True, check=False)

    def test_a_step_is_solved_and_marked_as_no_measurement(self):
        done = self.replay(self.log, "--hardware=dgx-a100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("simulated, never measured.", done.stdout.splitlines()[0])
        self.assertIn("1 process, 2 steps", done.stdout)
        self.assertIn("launches 2, copies 0, collectives 1", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^critical path .*host \d+ %")

    def test_a_faster_host_leaves_the_devices_time(self):
        done = self.replay(self.log, "--hardware=dgx-a100", "--host-speed=1e6")
        # Four launches, of 4 us each, are left of the host's work.
        self.assertRegex(done.stdout, r"(?m)^critical path .*host \d %$")

    def test_the_strategy_beside_says_what_differs(self):
        done = self.replay(self.log, "--hardware=dgx-a100", "--strategy=dp", "--model=mlp-tiny", "--devices=2", "--batch=8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^critical path +log +dp +difference$")
        self.assertRegex(done.stdout, r"(?m)^step .* ms$")
        self.assertIn("Most of it is host", done.stdout)

    def test_what_cannot_be_solved_is_one_line(self):
        killed = pathlib.Path(self.folder.name) / "killed.1"
        (whole,) = pathlib.Path(self.folder.name).glob("calls.*")
        killed.write_text("".join(whole.read_text().splitlines(keepends=True)[:-1]))
        for words, says, status in (((self.log.with_name("none"), "--hardware=dgx-a100"), "there is no such log", 2),
                                    ((killed, "--hardware=dgx-a100"), "its last line is no 'end'", 1),
                                    ((self.log, "--hardware=dgx-a101"), "'dgx-a101' is unknown", 2),
                                    ((self.log, "--hardware=dgx-a100", "--host-speed=0"), "--host-speed=0", 2),
                                    ((self.log, "--hardware=dgx-a100", "--strategy=dq"), "'dq' is not known", 2)):
            with self.subTest(words=words):
                done = self.replay(*words)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1), done.stderr)
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
