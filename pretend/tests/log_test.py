#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The log of pretended GPUs: lines of JSON with the keys that docs/pretend.md names, of threads and of processes that
end by _exit, and what is said at the end of values that were read back.

    log_test.py LIBRARIES PAGE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARIES, PAGE = map(pathlib.Path, sys.argv[1:3])
ALWAYS = {"t", "ns", "cpu", "cpu_ns", "thread", "what", "call", "device", "stream"}

# A program that calls each kind of function once or more. By ctypes, so that it needs no torch.
PROGRAM = """
import ctypes, os, threading
class Dim3(ctypes.Structure): _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]
def lib(name): return ctypes.CDLL(f"{libraries}/{name}")
cuda, blas, dnn, nccl = lib("libcudart.so.13"), lib("libcublas.so.13"), lib("libcudnn.so.9"), lib("libnccl.so.2")
core = lib("libtandem_pretend.so")
size, pointer = ctypes.c_size_t, ctypes.c_void_p
core.tandem_pretend_mark(b"step 1")
memory = pointer()
cuda.cudaMalloc(ctypes.byref(memory), size(1 << 20))
host = ctypes.create_string_buffer(8)
cuda.cudaMemcpy(memory, host, size(8), 1)
cuda.cudaMemset(memory, 0, size(8))
cuda.cudaLaunchKernel(pointer(1), Dim3(2, 3, 4), Dim3(32, 1, 1), None, size(16), None)
cuda.cudaMemcpy(host, memory, size(8), 2)
event = pointer()
cuda.cudaEventCreate(ctypes.byref(event))
cuda.cudaEventRecord(event, None)
cuda.cudaStreamWaitEvent(None, event, 0)
cuda.cudaDeviceSynchronize()
cuda.cudaProfilerStart()
handle = pointer()
blas.cublasCreate_v2(ctypes.byref(handle))
blas.cublasSgemm_v2(handle, 0, 1, 5, 6, 7, None, None, 5, None, 6, None, None, 5)
dnn.cudnnCreate(ctypes.byref(handle))
dnn.cudnnRNNForward(handle)
tensor = pointer()
dnn.cudnnCreateTensorDescriptor(ctypes.byref(tensor))
shape = (ctypes.c_int * 4)(2, 3, 8, 8)
dnn.cudnnSetTensorNdDescriptor(tensor, 0, 4, shape, shape)
dnn.cudnnConvolutionForward(handle, None, tensor, None, tensor, None, None, 0, None, size(0), None, tensor, None)
stream, graph, instance = pointer(), pointer(), pointer()
cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
cuda.cudaStreamBeginCapture(stream, 0)
cuda.cudaLaunchKernel(pointer(1), Dim3(5, 1, 1), Dim3(32, 1, 1), None, size(0), stream)
cuda.cudaStreamEndCapture(stream, ctypes.byref(graph))
cuda.cudaGraphInstantiate(ctypes.byref(instance), graph, size(0))
for _ in range(2): cuda.cudaGraphLaunch(instance, None)
comms = (pointer * 2)()
nccl.ncclCommInitAll(comms, 2, None)
nccl.ncclGroupStart()
for comm in comms: nccl.ncclAllReduce(memory, memory, size(1 << 18), 7, 0, pointer(comm), None)
nccl.ncclGroupEnd()
thread = threading.Thread(target=lambda: cuda.cudaLaunchKernel(pointer(1), Dim3(1, 1, 1), Dim3(1, 1, 1), None, size(0), None))
thread.start(); thread.join()
"""


class Log(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.end, cls.lines = cls.run_program("")
        cls.page = PAGE.read_text().partition("\n## The log\n")[2]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_program(cls, more, log="calls"):
        path = pathlib.Path(cls.folder.name) / log
        env = os.environ | {"TANDEM_PRETEND_GPUS": "2", "TANDEM_PRETEND_LOG": str(path), "LD_LIBRARY_PATH": str(LIBRARIES),
                            "LD_PRELOAD": str(LIBRARIES / "libtandem_pretend.so")}
        program = f"libraries = {str(LIBRARIES)!r}\n" + PROGRAM + more
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
        files = list(path.parent.glob(f"{log}.*"))
        assert len(files) == 1, (files, done)
        return done, [json.loads(line) for line in files[0].read_text().splitlines()]

    def of(self, what):
        return [line for line in self.lines if line["what"] == what]

    def calls_of(self, thread):
        """One after the other: without launches of graphs, which lie around others."""
        return [line for line in self.lines if "t" in line and line["thread"] == thread and line["call"] != "cudaGraphLaunch"]

    def test_program_succeeds(self):
        self.assertEqual(self.end.returncode, 0, self.end.stderr)

    def test_values_read_back_are_told_once(self):
        self.assertEqual(self.end.stderr.strip(),
                         "pretended GPUs: 1 value was read back from pretended devices; control flow may differ")
        self.assertEqual(self.lines[-1], {"what": "end", "records": self.lines[-1]["records"], "read_back": 1})

    def test_first_and_last_line(self):
        self.assertEqual(self.lines[0]["what"], "process")
        self.assertEqual(self.lines[0]["gpus"], 2)
        self.assertEqual(self.lines[-1]["records"], sum("t" in line for line in self.lines))

    def test_shapes(self):
        launch, product = self.of("launch")[0], self.of("product")[0]
        self.assertEqual((launch["grid"], launch["block"], launch["shared_bytes"]), ([2, 3, 4], [32, 1, 1], 16))
        self.assertEqual([product[key] for key in ("m", "n", "k", "batch", "type", "operands")], [5, 6, 7, 1, "f32", "NT"])
        convolution = self.of("convolution")[0]["operations"][0]
        self.assertEqual((convolution["operation"], convolution["x"]), ("convolution-forward", [2, 3, 8, 8]))

    def test_copies(self):
        sent, got = self.of("copy")
        self.assertEqual((sent["direction"], sent["bytes"], sent["from"], sent["to"]), ("host-to-device", 8, -1, 0))
        self.assertEqual((got["direction"], got["copied"]), ("device-to-host", 1))

    def test_collectives_of_a_group(self):
        first, second = self.of("collective")
        self.assertEqual((first["collective"], first["bytes"], first["ranks"]), ("all-reduce", 1 << 20, 2))
        self.assertEqual([first["rank"], second["rank"]], [0, 1])
        self.assertEqual(first["group"], self.of("group")[0]["group"])

    def test_threads(self):
        self.assertEqual(len(self.of("thread")), 2)
        self.assertEqual({line["thread"] for line in self.of("launch")}, {0, 1})

    def test_calls_of_a_graph_lie_within_its_launches_and_go_to_its_stream(self):
        around = [line for line in self.of("call") if line["call"] == "cudaGraphLaunch"]
        kernels = [line for line in self.of("launch") if line["grid"] == [5, 1, 1]]
        self.assertEqual([line["stream"] for line in kernels], [0, 0])
        for launch, kernel in zip(around, kernels, strict=True):
            self.assertLess(launch["t"], kernel["t"])
            self.assertLessEqual(kernel["t"] + kernel["ns"], launch["t"] + launch["ns"])

    def test_times_lie_in_order(self):
        times = [line["t"] for line in self.calls_of(0)]
        self.assertEqual(times, sorted(times))

    def test_cpu_time_of_a_thread_goes_on(self):
        for thread in (0, 1):
            ends = [(line["cpu"], line["cpu"] + line["cpu_ns"]) for line in self.calls_of(thread)]
            self.assertTrue(all(before[1] <= after[0] for before, after in zip(ends, ends[1:])))

    def test_exit_of_a_worker_writes_the_log(self):
        done, lines = self.run_program("os._exit(3)\n", "worker")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(lines[-1]["what"], "end")

    def test_a_program_that_is_missing_leaves_log_and_count_to_its_parent(self):
        # Python asks vfork() for the child, which ends by _exit() in the memory of its parent.
        more = ("import subprocess\ntry: subprocess.run(['no-such-program'])\nexcept FileNotFoundError: print(os.getpid())\n"
                "core.tandem_pretend_mark(b'after')\n")
        done, lines = self.run_program(more, "missing")
        self.assertEqual(str(lines[0]["pid"]), done.stdout.strip(), done.stderr)
        self.assertEqual([line["what"] for line in lines].count("end"), 1)
        self.assertEqual(lines[-1]["read_back"], 1)
        self.assertEqual(done.stderr.count("read back"), 1)

    def test_a_forked_worker_does_not_repeat_what_its_parent_read(self):
        done, lines = self.run_program("worker = os.fork()\nif not worker: os._exit(0)\nos.waitpid(worker, 0)\n", "forked")
        self.assertEqual(done.stderr.count("read back"), 1, done.stderr)
        self.assertEqual([line["what"] for line in lines].count("end"), 1)

    def test_a_program_can_ask_how_many_values_it_read(self):
        done, _ = self.run_program("print(core.tandem_pretend_read_back())\n", "asked")
        self.assertEqual(done.stdout.strip(), "1")

    def test_many_records_are_written_on_the_way(self):
        more = "launch = cuda.cudaEventRecord\nfor _ in range(300000): launch(event, None)\n"
        _, lines = self.run_program(more, "many")
        self.assertEqual(sum(line["what"] == "event" for line in lines), 300001)
        written = [line for line in lines if line["what"] == "written"]
        self.assertGreaterEqual(len(written), 1)
        self.assertGreater(written[0]["ns"], 0)

    def keys_of_page(self, what):
        row = re.search(rf"^\| `{what}` \|[^|]*\| ([^|]*)\|", self.page, re.MULTILINE)
        self.assertIsNotNone(row, f"docs/pretend.md has no row for {what}")
        return set(re.findall(r"`(\w+)`", row.group(1)))

    def test_page_names_every_key(self):
        kinds = {line["what"] for line in self.lines if "t" in line} | {"written"}
        self.assertEqual(kinds | {"process", "thread", "end"}, set(re.findall(r"^\| `(\w+)` \|", self.page, re.MULTILINE)))
        for line in self.lines:
            always = ALWAYS if "t" in line else {"what"}
            self.assertEqual(set(line) - always, self.keys_of_page(line["what"]), line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
