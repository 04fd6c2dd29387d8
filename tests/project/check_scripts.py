#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts parse, their help and lists work, and every command that the README shows exists.

    check_scripts.py PROGRAM...      the programs that the build makes
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = set(sys.argv[1:])
ROOT = pathlib.Path.cwd()


def is_bash(file):
    if not file.is_file():
        return False
    return file.suffix == ".sh" or file.read_bytes().startswith((b"#!/usr/bin/env bash", b"#!/bin/bash"))


SCRIPTS = [file for top in ("tools", ".ci") for file in sorted((ROOT / top).rglob("*")) if is_bash(file)]


def run(*command, cwd=ROOT):
    return subprocess.run([str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)


def readme_commands():
    """First words of the commands in the README's sh blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for line in "\n".join(blocks).splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words[0]


class Scripts(unittest.TestCase):
    def test_there_are_scripts(self):
        names = {file.name for file in SCRIPTS}
        self.assertLessEqual({"quickstart", "test", "install-deps", "bundle", "gpu_proof", "gpu_node", "starter", "launch.sh", "run", "setup.sh"}, names)

    def test_bash_reads_them(self):
        for script in SCRIPTS:
            with self.subTest(script=script):
                result = run("bash", "-n", script)
                self.assertEqual(result.returncode, 0, result.stderr)

    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck here")
    def test_shellcheck_finds_nothing(self):
        result = run("shellcheck", "-x", *SCRIPTS)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_no_reader_of_a_pipe_ends_before_its_writer(self):  # else pipefail ends the script, now and then
        ended = [script.name for script in SCRIPTS if re.search(r"\| *(?:head|grep -\w*q)\b", script.read_text())]
        self.assertEqual(ended, [])

    def test_commands_can_be_run(self):
        for script in SCRIPTS:
            if script.suffix != ".sh":
                self.assertTrue(script.stat().st_mode & 0o100, f"{script} is not executable")


class Environment(unittest.TestCase):
    def test_what_launches_are_freed_of_scripts_remove_too(self):
        source = (ROOT / "common/base/this_process.h").read_text()
        prefixes = re.findall(r'"(\w+_)"', re.search(r"kPrefixes\{(.*?)\}", source, re.DOTALL).group(1))
        self.assertIn("ONEDNN_", prefixes)
        script = "name=test top=.; . tools/lib/setup.sh; clean_environment; env"
        variables = {f"{prefix}PLANTED": "1" for prefix in prefixes}
        result = subprocess.run(["bash", "-c", script], cwd=ROOT, env={**os.environ, **variables},
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([name for name in variables if f"{name}=" in result.stdout], [])


class Steps(unittest.TestCase):
    """configure and build of tools/lib/setup.sh in a folder that stands in for the checkout, with a command for cmake."""

    def bash(self, script, plant=lambda top: None):
        with tempfile.TemporaryDirectory() as top:
            plant(pathlib.Path(top))
            start = f"set -euo pipefail; name=quickstart top={top}; . {ROOT}/tools/lib/setup.sh; cmake() {{ echo made; }}; "
            result = run("bash", "-c", start + script, cwd=top)
            logs = {path.name: path.read_text() for path in pathlib.Path(top).rglob("*.log") if path.is_file()}
        return result, logs

    def test_a_build_says_where_its_log_is_before_it_begins(self):
        result, logs = self.bash("build release all")
        self.assertEqual(result.returncode, 0, result.stderr)
        first, second = result.stdout.splitlines()
        self.assertRegex(first, r"^quickstart: build release \(\d+ cores\): some minutes the first time; log build/release/build.log$")
        self.assertIn("cores): done in", second)
        self.assertEqual(logs, {"build.log": "made\n"})

    def test_a_log_that_cannot_be_written_is_the_only_thing_told(self):
        def plant(top):
            (top / "build/release/configure.log").mkdir(parents=True)
        result, logs = self.bash("configure release", plant)
        self.assertEqual((result.returncode, result.stdout, logs), (1, "", {}))
        self.assertRegex(result.stderr, r"^quickstart: configure release: cannot write the log .*/configure.log; .*a clone of your own\n$")


class InstallDeps(unittest.TestCase):
    def packages(self, *options):
        result = run(ROOT / "tools/install-deps", "--print", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def test_prints_its_list(self):
        self.assertIn("cmake", self.packages())

    def test_tests_need_more(self):
        self.assertGreater(set(self.packages("--tests")), set(self.packages()))
        self.assertNotIn("libgtest-dev", self.packages())

    def test_browser_is_installed_on_request_alone(self):
        self.assertIn("chromium", self.packages("--browser"))
        self.assertNotIn("chromium", self.packages("--tests"))

    def test_unknown_argument_is_a_usage_error(self):
        result = run(ROOT / "tools/install-deps", "--prnt")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'--prnt'", result.stderr)

    def test_without_apt_the_list_is_told_by_purpose(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bash", "sed", "cat"):
                os.symlink(shutil.which(name), os.path.join(folder, name))
            result = subprocess.run([ROOT / "tools/install-deps"], env={"PATH": folder}, capture_output=True, text=True,
                                    timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("has no apt", result.stderr)
        self.assertIn("CPU mathematics (Debian's libdnnl-dev)", result.stderr)
        self.assertIn("the wheel", result.stderr)


class MissingToolkit(unittest.TestCase):
    """What quickstart does on a machine with a GPU, by a folder that stands in for the machine's root."""

    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)

    def put(self, path, mode=0o644):
        file = pathlib.Path(self.root.name, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=mode)

    def bash(self, command, answer=None):
        sources = "".join(f". {ROOT}/tools/lib/{name}.sh; " for name in ("setup", "cuda_libraries", "missing_toolkit"))
        script = f"set -euo pipefail; name=quickstart top={self.root.name}; {sources}{command}"
        words = ["bash", "-c", script]
        if answer is not None:  # a terminal of its own
            words = ["script", "--quiet", "--return", "--command", shlex.join(words), "/dev/null"]
        return subprocess.run(words, env={"PATH": "/usr/bin:/bin"}, input=answer,
                              stdin=subprocess.DEVNULL if answer is None else None, capture_output=True, text=True,
                              timeout=60)

    def lacks_toolkit(self):
        return self.bash(f"lacks_toolkit {self.root.name}").returncode == 0

    def test_is_asked_about_where_a_gpu_is_and_no_compiler(self):
        self.assertFalse(self.lacks_toolkit())
        self.put("dev/nvidia0")
        self.assertTrue(self.lacks_toolkit())
        self.put("usr/local/cuda-13.0/bin/nvcc", mode=0o755)
        self.assertFalse(self.lacks_toolkit())

    def test_wheels_of_the_compiler_are_a_toolkit(self):
        self.put("dev/nvidia0")
        self.put("build/cuda-from-pip/lib/python3.11/site-packages/nvidia/cu13/bin/nvcc", mode=0o755)
        self.assertFalse(self.lacks_toolkit())

    def test_without_a_terminal_nothing_is_measured(self):
        result = self.bash("allow_cpu 'no CUDA toolkit'; echo measured")
        self.assertEqual(result.returncode, 1)
        for way in ("the wheel", "the archive", "tools/cuda-from-pip", "a CUDA toolkit 12"):
            self.assertIn(way, result.stdout)
        self.assertIn("-- --backend=host", result.stderr)
        self.assertNotIn("measured\n", result.stdout)

    def test_a_back_end_that_is_asked_for_is_not_replaced(self):
        result = self.bash("allow_cpu 'no CUDA toolkit' cuda; echo measured")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--backend=cuda cannot be measured", result.stderr)
        self.assertNotIn("measured\n", result.stdout)

    def test_the_back_end_is_found_among_the_options(self):
        for options, backend in (("", ""), ("--launches=1", ""), ("--backend=host", "host"), ("-q --backend cuda --links", "cuda")):
            self.assertEqual(self.bash(f"backend_in {options}").stdout.strip(), backend)

    @unittest.skipUnless(shutil.which("script"), "no `script` here to make a terminal")
    def test_a_person_at_the_terminal_decides(self):
        self.assertIn("went on", self.bash("allow_cpu 'no CUDA toolkit'; echo went on", answer="y\n").stdout)
        refused = self.bash("allow_cpu 'no CUDA toolkit'; echo went on", answer="\n")
        self.assertNotIn("went on\r", refused.stdout)
        self.assertEqual(refused.returncode, 1)


class Commands(unittest.TestCase):
    def test_help_works_from_any_directory(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            for name in ("quickstart", "test", "bundle", "gpu_proof", "gpu_node", "cuda-from-pip", "wheel"):
                result = run(ROOT / "tools" / name, "--help", cwd=elsewhere)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"tools/{name}", result.stdout)
                self.assertNotIn("set -e", result.stdout)

    def test_wrong_arguments_are_usage_errors(self):
        for command in (["quickstart", "--frobnicate"], ["quickstart", "--out"], ["quickstart", "--out="], ["test", "--jobs", "0"],
                        ["bundle", "--frobnicate"], ["bundle", "--out"], ["bundle", "--built", "/"], ["gpu_proof", "--rows"], ["gpu_node", "send"], ["wheel", "--frobnicate"], ["wheel", "--from"],
                        ["wheel", "--from", "/"]):
            result = run(ROOT / "tools" / command[0], *command[1:])
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


class CudaFromPip(unittest.TestCase):
    """The script for CUDA 12 in a folder of its own, with stand-ins that download nothing."""

    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)
        self.folder = pathlib.Path(self.root.name)
        for name in ("cuda-from-pip", "lib/setup.sh"):
            (self.folder / "tools" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "tools" / name, self.folder / "tools" / name)
        (self.folder / "bin").mkdir()

    def put(self, name, text):
        (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.folder / "bin" / name).chmod(0o755)

    def make(self):
        return run("env", f"PATH={self.folder / 'bin'}:{os.environ['PATH']}", self.folder / "tools/cuda-from-pip", "--cuda=12")

    def test_another_processor_is_refused(self):
        self.put("uname", "echo aarch64")
        self.put("python3", "exit 9")
        made = self.make()
        self.assertEqual((made.returncode, len(made.stderr.splitlines())), (1, 1), made.stderr)
        self.assertIn("its compiler runs on x86-64, and this is aarch64", made.stderr)

    def test_a_compiler_of_another_checksum_is_not_unpacked(self):
        self.put("uname", "echo x86_64")
        self.put("python3", 'case $1 in -m) mkdir -p "$3/bin"; ln -s /bin/true "$3/bin/pip";; *) echo other >"$3";; esac')
        self.put("ar", f"touch {self.folder}/unpacked")
        made = self.make()
        self.assertEqual(made.returncode, 1, made.stderr)
        self.assertIn("the compiler of CUDA 12 could not be had", made.stderr)
        self.assertFalse((self.folder / "unpacked").exists())


class Readme(unittest.TestCase):
    def test_its_commands_exist(self):
        commands = set(readme_commands())
        self.assertIn("tools/quickstart", commands)
        for command in commands:
            with self.subTest(command=command):
                if command.startswith("build/"):
                    self.assertIn(pathlib.Path(command).name, PROGRAMS, "no target makes it")
                elif "/" in command:
                    self.assertTrue((ROOT / command).is_file(), "no such file")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
