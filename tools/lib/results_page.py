#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sections of docs/results.md about results.json: each key with the meaning that its schema gives it.

    results_page.py [--check]

With --check it writes nothing, and ends with 1 where the committed page says something else.
"""
import json
import pathlib
import sys
import textwrap

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = SOURCE / "common/results/schema/results-2.schema.json"
PAGE = SOURCE / "docs/results.md"
BEGIN, END = "<!-- written by the target cli_page -->\n", "<!-- end of what is written -->\n"
TYPES = {"string": "text", "integer": "whole number", "array": "list"}


def title(name):
    return name[0].upper() + name[1:].replace("_", " ")


def meaning(part):
    """A key's description, its values, the object that it holds and the page that defines it."""
    said = [part["description"]] if "description" in part else []
    if "$comment" in part:
        said = [f"[{said[0]}]({part['$comment']})"]
    if "enum" in part:
        said.append(", ".join(f"`{value}`" for value in part["enum"] if value))
    target = part.get("$ref", part.get("items", {}).get("$ref", ""))
    if target:
        name = target.rsplit("/", 1)[1]
        said.append(f"[{name.replace('_', ' ')}](#{name.replace('_', '-')})")
    return ": ".join(said) or TYPES.get(part["type"], part["type"])


def items(part, inside=""):
    """A line per key; a key of an object that has no name of its own follows its owner as `owner.key`."""
    for key, value in part["properties"].items():
        yield textwrap.fill(f"- `{inside}{key}`: {meaning(value)}", 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
        inner = value.get("items", value)
        if "properties" in inner and key != "tandem":
            yield from items(inner, f"{inside}{key}.")


def lists(schema):
    parts = {"document": schema, "tandem": schema["properties"]["tandem"], **schema["$defs"]}
    sections = [f"### {title(name)}\n\n{''.join(items(part))}" for name, part in parts.items()]
    return "\n".join(sections)


def main():
    page = PAGE.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    made = before + begin + lists(json.loads(SCHEMA.read_text(encoding="utf-8"))) + end + after
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(made, encoding="utf-8")
    elif made != page or not end:
        sys.exit(f"{PAGE} is stale: cmake --build build/release --target cli_page, and commit it")


if __name__ == "__main__":
    main()
