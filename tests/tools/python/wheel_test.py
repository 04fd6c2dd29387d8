#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/wheel packs a small tree that stands in for the archive's, and pip installs it without a network.

    wheel_test.py SOURCE

Skips what needs pip where this python makes no venv with it.
"""
import base64
import csv
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(sys.argv[1])
TOOL = SOURCE / "tools/wheel"
LAUNCHER = """#!/bin/sh
case $1 in
  end) exit "$2" ;;
  kill) kill -s "$2" $$ ;;
  self) echo "$0"; shift; printf '%s|' "$@" ;;
  --version) echo "tandem 0.1.0" ;;
esac
"""


def call(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def make_tree(folder):
    for name, text, mode in (("tandem", LAUNCHER, 0o755), ("programs/elf/step_bench", "\x7fELF", 0o755),
                             ("programs/share/tandem/bundle.conf", f"bundle_version='{version()}'\n", 0o644),
                             ("programs/tools/python/tandem/__init__.py", "", 0o644), ("licences/tandem.txt", "Apache", 0o644)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    return folder


def version():
    text = (SOURCE / "CMakeLists.txt").read_text()
    return text.partition("project(tandem VERSION ")[2].split()[0]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = make_tree(self.folder / "a tree")

    def pack(self, *options, out="out"):
        done = call(TOOL, "--from", self.tree, "--out", self.folder / out, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        (wheel,) = (self.folder / out).iterdir()
        return wheel


class Packing(Folder):
    def test_its_name_is_of_the_version_and_the_tag(self):
        self.assertEqual(self.pack().name, f"tandem_bench-{version()}-py3-none-manylinux_2_28_x86_64.whl")

    def test_programs_stay_executable(self):
        with zipfile.ZipFile(self.pack()) as wheel:
            modes = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
        for name in ("tandem", "programs/elf/step_bench"):
            self.assertEqual(modes[f"tandem/archive/{name}"], 0o100755)
        for name in ("tandem/archive/licences/tandem.txt", "tandem/__init__.py", "tandem/py.typed"):
            self.assertEqual(modes[name], 0o100644)

    def test_the_module_is_packed_once(self):
        with zipfile.ZipFile(self.pack()) as wheel:
            self.assertEqual([name for name in wheel.namelist() if name.endswith("tandem/__init__.py")], ["tandem/__init__.py"])

    def test_its_record_is_of_all_files(self):
        with zipfile.ZipFile(self.pack()) as wheel:
            (record,) = (name for name in wheel.namelist() if name.endswith("/RECORD"))
            rows = list(csv.reader(wheel.read(record).decode().splitlines()))
            self.assertEqual([row[0] for row in rows], wheel.namelist())
            for name, digest, size in rows[:-1]:
                content = wheel.read(name)
                expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual((digest, size), (f"sha256={expected}", str(len(content))))
            self.assertEqual(rows[-1], [record, "", ""])

    def test_the_same_tree_gives_the_same_bytes(self):
        first = self.pack().read_bytes()
        copy = self.folder / "copy"
        shutil.copytree(self.tree, copy)
        os.utime(copy / "tandem", (1, 1))
        self.tree = copy
        self.assertEqual(self.pack(out="again").read_bytes(), first)

    def refuse(self, status, words, *options):
        done = call(TOOL, "--out", self.folder / "out", *options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(list((self.folder / "out").glob("*")), [])

    def test_what_cannot_be_packed_is_refused_in_one_line(self):
        self.refuse(2, "--built, --cuda and --without-cuda belong to what is made", "--from", self.tree, "--without-cuda")
        self.refuse(2, "belong to what is made", "--from", self.tree, "--cuda=12")
        self.refuse(2, "--cuda and --without-cuda: give one of them", "--cuda=12", "--without-cuda")
        for flag in ("--built", "--from", "--out"):
            self.refuse(2, f"{flag} needs a folder", f"{flag}=")
        self.refuse(2, "it has no tandem; give a folder of tools/bundle", "--from", self.folder)
        self.refuse(2, "'/nope' is no build folder", "--built", "/nope")
        (self.tree / "link").symlink_to("tandem")
        self.refuse(1, "link: it is a link, which a wheel cannot hold", "--from", self.tree)
        (self.tree / "link").unlink()
        (self.tree / "programs/share/tandem/bundle.conf").write_text("bundle_version='0.0.7'\n")
        self.refuse(1, "it is of version 0.0.7, and this checkout is", "--from", self.tree)

    def test_what_has_grown_too_large_is_refused(self):
        (self.tree / "large").write_bytes(os.urandom(61 * 1024 * 1024))
        self.refuse(1, "61.1 MiB, 60 at most", "--from", self.tree)

    def test_a_folder_that_takes_no_files_is_named(self):
        (self.folder / "file").write_text("")
        for out in (self.folder / "file/out", "/proc/q"):
            for source in (("--from", self.tree), ("--built", self.folder)):  # before what is built is looked at
                done = call(TOOL, *source, "--out", out)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), done.stderr)
                self.assertIn("choose another --out", done.stderr)


class Installed(Folder):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        if call(sys.executable, "-m", "venv", cls.place / "venv").returncode:
            raise unittest.SkipTest("this python makes no venv with pip")
        tree = make_tree(cls.place / "tree")
        done = call(TOOL, "--from", tree, "--out", cls.place / "dist")
        assert done.returncode == 0, done.stderr
        (wheel,) = (cls.place / "dist").iterdir()
        done = call(cls.place / "venv/bin/pip", "install", "--no-index", "--disable-pip-version-check", wheel, env=cls.environment())
        assert done.returncode == 0, done.stderr
        cls.command = cls.place / "venv/bin/tandem"

    @staticmethod
    def environment():
        """With a home that nobody can write, root neither."""
        return {"HOME": "/proc/none", "PATH": "/usr/bin:/bin"}

    def tandem(self, *words):
        return call(self.command, *words, env=self.environment())

    def python(self, text):
        return call(self.place / "venv/bin/python", "-B", "-c", text, env=self.environment())

    def test_the_command_ends_as_the_program(self):
        for status in (0, 1, 2, 130):
            self.assertEqual(self.tandem("end", str(status)).returncode, status)

    def test_arguments_arrive_as_they_are(self):
        said = self.tandem("self", "two words", "", "*").stdout.splitlines()
        self.assertTrue(said[0].endswith("/site-packages/tandem/archive/tandem"), said)
        self.assertEqual(said[1], "two words||*|")

    def test_the_module_runs_as_the_command(self):
        done = call(self.place / "venv/bin/python", "-m", "tandem", "end", "3", env=self.environment())
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_the_module_may_be_led_to_the_command(self):
        done = self.python(f"import os; os.environ['TANDEM_PROGRAM'] = {str(self.command)!r}\n"
                           "import tandem.child; tandem.child.call(['end', '0'], None, True); print('ended')")
        self.assertEqual(done.stdout, "ended\n", done.stderr)

    def test_nothing_is_installed_beside_it(self):
        done = call(self.place / "venv/bin/pip", "list", "--format=freeze", "--disable-pip-version-check", env=self.environment())
        names = {line.partition("==")[0] for line in done.stdout.splitlines()}
        self.assertEqual({name.replace("-", "_") for name in names} - {"pip", "setuptools", "wheel", "pkg_resources"}, {"tandem_bench"})

    def test_programs_that_may_not_run_are_told_in_one_line(self):
        (launcher,) = self.place.glob("venv/lib/python3*/site-packages/tandem/archive/tandem")
        launcher.chmod(0o644)
        self.addCleanup(launcher.chmod, 0o755)
        done = self.tandem("end", "0")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("Permission denied: its file system is mounted noexec", done.stderr)
        done = self.python("import tandem\ntry: tandem.run('quick', 'q')\nexcept tandem.TandemError as error: print(error)")
        self.assertIn("mounted noexec", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
