#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What starts a command on pretended GPUs: start_test.py LIBRARIES STARTER

A made-up Python stands in for one with torch: a script that answers as one would. Its torch has no libraries, or a copy of
this program's own.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

STARTER = pathlib.Path(sys.argv.pop()).resolve()
LIBRARIES = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(STARTER))
import symbol_check
import torch_wheel
from refusal import Failure, Usage

sys.argv[1:] = []
PACKAGES = {"nvidia-cublas": "13.4.1.3", "nvidia-cudnn-cu13": "9.26.0.51", "nvidia-cuda-runtime": "13.2.86", "nvidia-nccl-cu13": "2.30.7"}


def wheel(**facts):
    return torch_wheel.TorchWheel("python3", **{"version": "2.15.0", "cuda": "13.2", "packages": PACKAGES, **facts})


class InAFolder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def python(self, **facts):
        """A Python that has such a torch in torch/, {} for none."""
        answer = {"version": "2.15.0", "cuda": "13.2", "folder": str(self.folder / "torch"), "packages": PACKAGES, **facts} if facts else {}
        return self.script("python-made-up", f"#!/bin/sh\nif [ \"$1 $2\" = '-B -c' ]; then echo '{json.dumps(answer)}'; else env; fi\n")

    def start(self, *words, environment=()):
        # Below a root of its own, so that a real GPU of this machine does not count.
        return subprocess.run([sys.executable, "-I", "-B", STARTER, f"--root={self.folder}", *words], cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=100, env={**os.environ, **dict(environment)})

    def refused(self, told, *words, status=2):
        done = self.start(*words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (status, f"tandem: {told}\n", ""))


class Refusals(InAFolder):
    def test_impossible_numbers_and_cards(self):
        self.refused("--gpus=65: use a number from 1 to 64", "--gpus=65", "--", sys.executable)
        self.refused("--like=a10: there is no such card; use a100, h100, rtx4090, rtx3090, v100", "--like=a10", "--", sys.executable)
        self.refused("--patience=0: use seconds above 0", "--check", "--patience=0", "--", sys.executable)
        self.refused("--patience=9: it is of --check; add that, or leave it out", "--patience=9", "--", sys.executable)

    def test_no_command_and_no_program(self):
        self.refused("pretending GPUs: there is no command; put one behind --: tandem pretend -- python3 train.py")
        self.refused("running no-such-program: there is no such program; check the command behind --", "--", "no-such-program")
        self.script("train.py", "").chmod(0o644)
        self.refused("running ./train.py: it may not be executed; put python3 in front of it, or use chmod +x", "--", "./train.py")

    def test_beside_a_real_gpu_unless_asked(self):
        python = self.python(cuda="")
        for place in ("dev/nvidia0", "proc/driver/nvidia/gpus/0000:00"):
            with self.subTest(place):
                path = self.script(place, "")
                self.assertIn("this machine has a real one", self.start("--", python).stderr)
                self.assertIn("is built without CUDA", self.start("--beside-gpu", "--", python).stderr)
                path.unlink()
        self.script("dev/nvidiactl", "")
        self.assertIn("is built without CUDA", self.start("--", python).stderr)

    def test_a_log_where_no_file_can_be_made(self):
        self.refused(f"--log=none/calls: files cannot be made in {self.folder}/none: No such file or directory; name another folder",
                     "--log=none/calls", "--", sys.executable)

    def test_a_python_without_torch_and_what_is_no_python(self):
        python = self.python()
        self.refused(f"looking for torch: {python} has none; install one there: {python} -m pip install torch", "--", python)
        self.refused("looking for torch: /bin/ls is no Python that runs; name one with --python", "--python=/bin/ls", "--", "ls")
        self.refused("looking for torch: no-python is no Python that runs; name one with --python", "--python=no-python", "--", "ls")

    def test_a_torch_without_cuda_or_of_another(self):
        python = self.python(cuda="")
        self.refused(f"pretending GPUs: torch 2.15.0 of {python} is built without CUDA; install the wheel of the package index there: {python} "
                     "-m pip install torch", "--", python)
        python = self.python(cuda="11.8")
        self.refused(f"pretending GPUs: torch 2.15.0 of {python} is built for CUDA 11.8, and the libraries are those of CUDA 12 and 13; install "
                     "a torch for one of them", "--", python)

    def test_a_library_of_torch_that_is_none(self):
        library = self.script("torch/lib/libfoo.so", "no library\n")
        self.refused(f"reading the symbols of {library}: it is no shared library; repair it", "--", self.python(cuda="13.2"), status=1)


class Command(InAFolder):
    def test_gets_the_libraries_before_others_and_its_words(self):
        python = self.python(cuda="12.4")
        nvrtc = self.script("nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4", "")
        nvrtc.write_bytes((LIBRARIES / "libcuda.so.1").read_bytes())
        done = self.start("--gpus=3", "--like=h100", "--", python, environment={"LD_LIBRARY_PATH": "/own", "TANDEM_PRETEND_LOG": "/old"})
        self.assertEqual((done.returncode, done.stderr), (0, "pretended GPUs: host work measured, nothing computed\n"))
        variables = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        self.assertTrue(variables["LD_PRELOAD"].startswith(f"{LIBRARIES}/libtandem_pretend.so:{LIBRARIES}/libcudart.so.12:"))
        self.assertEqual(variables["LD_LIBRARY_PATH"], f"{LIBRARIES}:{nvrtc.parent}:/own")
        self.assertEqual((variables["TANDEM_PRETEND_GPUS"], variables["TANDEM_PRETEND_LIKE"]), ("3", "h100"))
        self.assertNotIn("TANDEM_PRETEND_LOG", variables)

    def test_variables_alone(self):
        done = self.start("--variables", "--log=calls", f"--python={self.python(cuda='13.2')}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        variables = dict(line.split("=", 1) for line in done.stdout.splitlines())
        self.assertEqual(variables["TANDEM_PRETEND_LOG"], str(self.folder / "calls"))
        self.assertEqual(variables["TANDEM_PRETEND_VERSIONS"], "runtime=13020,blas=130401,dnn=92600,nccl=23007")
        self.assertNotIn("PATH", variables)

    def test_its_python_is_the_command_or_what_a_script_names(self):
        for first, python in (("#!/usr/bin/env python3", "python3"), ("#!/venv/bin/python3.12 -B", "/venv/bin/python3.12")):
            self.assertEqual(torch_wheel.python_of(str(self.script("torchrun", first + "\n"))), python)
        with self.assertRaisesRegex(Usage, "the Python behind it is not known"):
            torch_wheel.python_of(str(self.script("torchrun", "#!/bin/sh\n")))


class Symbols(unittest.TestCase):
    def test_missing_are_those_of_replaced_libraries_that_nobody_exports(self):
        taken = [("cudaMalloc", "libcudart.so.13"), ("cudaNewThing", "libcudart.so.13"), ("cudaMalloc", "libcudart.so.14"), ("ncclNewThing", ""),
                 ("cuNewThing", ""), ("cuFileRead", ""), ("malloc", "GLIBC_2.2.5"), ("cufftPlan1d", "libcufft.so.12")]
        user = symbol_check.Library([], taken, ["libcuda.so.1"])
        runtime = symbol_check.Library([("cudaMalloc", "libcudart.so.13")], [], [])
        self.assertEqual(symbol_check.missing_symbols(user, [runtime]),
                         ["cudaNewThing (libcudart.so.13)", "cudaMalloc (libcudart.so.14)", "ncclNewThing (libnccl.so.2)",
                          "cuNewThing (libcuda.so.1)"])
        self.assertEqual(symbol_check.missing_symbols(symbol_check.Library([], [("cuInit", "")], ["libc.so.6"]), []), [])

    def test_a_librarys_own_are_read_with_their_versions(self):
        runtime = symbol_check.read(LIBRARIES / "libcudart.so.13")
        self.assertIn(("cudaMalloc", "libcudart.so.13"), runtime.exported)
        self.assertIn("libtandem_pretend.so", runtime.needed)
        self.assertTrue([name for name, version in runtime.imported if version.startswith("GLIBC_")])
        with self.assertRaises(Failure):
            symbol_check.read(LIBRARIES / "absent.so")


if __name__ == "__main__":
    unittest.main()
