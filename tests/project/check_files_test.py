#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted in a tree of files are found by check_files.py, and what is none is left in peace."""
import pathlib
import sys
import tempfile
import unittest

import check_files

BODY = "  call();\n" * 61
SHORT = "  call();\n" * 60


def long_functions(text):
    return [head for _, head, length in check_files.functions(text) if length > check_files.MAX_FUNCTION_LINES]


class FunctionsTest(unittest.TestCase):
    def test_long_bodies_are_found_whatever_their_signature(self):
        for head in ("void f()", "int Class::f(int a,\n             int b) const noexcept", "Class::Class(int a)\n    : a_(a), b_{a}",
                     "auto f() -> int", "template <class T>\nvoid f(T a)", "TEST(A, B)"):
            self.assertEqual(len(long_functions(f"{head} {{\n{BODY}}}\n")), 1, head)
            self.assertEqual(long_functions(f"{head} {{\n{SHORT}}}\n"), [], head)

    def test_members_are_functions_and_classes_are_none(self):
        member = "  int f() const {\n" + BODY.replace("  call", "    call") + "  }\n"
        self.assertEqual(len(long_functions(f"class A : public B<int(int)> {{\n public:\n{member}}};\n")), 1)
        self.assertEqual(long_functions(f"namespace a {{\n{BODY}}}  // namespace a\n"), [])
        self.assertEqual(long_functions(f"const int kTable[] = {{f(1),\n{BODY}}};\n"), [])

    def test_a_lambda_within_a_call_is_a_part_of_its_function(self):
        self.assertEqual(len(long_functions("void f() {\n  call([&] {\n" + BODY.replace("  c", "    c") + "  });\n}\n")), 1)

    def test_raw_strings_and_directives_end_no_function(self):
        self.assertEqual(len(long_functions(f'void f() {{\n  g(R"x(\n}}\n)x");\n#if A\n{BODY}#endif\n}}\n')), 1)


class FilesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def faults(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return list(check_files.faults(file))

    def test_what_a_file_lacks_or_has_too_much_of(self):
        licence = f"// {check_files.LICENCE}\n"
        self.assertEqual(self.faults("common/a.h", f"{licence}#pragma once\n"), [])
        self.assertEqual(self.faults("common/a.h", "#pragma once\n"), ["no SPDX line at the top"])
        self.assertEqual(self.faults("common/a.h", licence), ["no #pragma once"])
        self.assertEqual(self.faults("common/a.cc", licence + "int a;\n" * 500), ["501 lines, 500 at most"])
        self.assertEqual(self.faults("CMakeLists.txt", "a()\n" * 501), ["501 lines, 500 at most"])
        self.assertEqual(self.faults("common/a.cu", f"{licence}kernel<<<1, 2>>>();\n")[0][:10], "a kernel t")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
