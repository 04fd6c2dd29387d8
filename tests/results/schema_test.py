#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results documents against their JSON Schema, and those of other versions against the reader.

schema_test.py TANDEM WRITE_EXAMPLE SOURCE_FOLDER CASE
"""
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def load(path):
    return json.loads(Path(path).read_text())


def validator(source):
    try:
        import jsonschema
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        sys.exit(SKIPPED)
    schema = load(source / "common/results/schema/results-2.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def example(program, folder):
    """Of the writer, with every field that a launch can have."""
    subprocess.run([program, folder / "a.json"], check=True)
    return load(folder / "a.json")


def unlisted(schema, part, value, path="document"):
    """Fields of a document that the schema does not name."""
    while "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list):
        return [name for one in value for name in unlisted(schema, part.get("items", {}), one, path + "[]")]
    if not isinstance(value, dict) or "properties" not in part:
        return []
    found = []
    for key, inner in value.items():
        if key in part["properties"]:
            found += unlisted(schema, part["properties"][key], inner, f"{path}.{key}")
        elif path not in ("document.context", "document.benchmarks[]"):
            found.append(f"{path}.{key}")
    return found


def case_valid(tandem, program, source, folder):
    check = validator(source)
    documents = {"example": example(program, folder)}
    for path in sorted((source / "reports/samples").glob("*/results.json")):
        documents[path.parent.name] = load(path)
    assert len(documents) >= 6, documents.keys()
    for name, document in documents.items():
        errors = [f"{error.json_path}: {error.message[:200]}" for error in check.iter_errors(document)]
        assert not errors, (name, errors[:5])
    names = unlisted(check.schema, check.schema, documents["example"])
    assert not names, f"the schema does not name {sorted(set(names))}"


def case_invalid(tandem, program, source, folder):
    """What the schema is to refuse."""
    check = validator(source)
    whole = example(program, folder)
    launch = next(i for i, one in enumerate(whole["tandem"]["launches"]) if one["status"] == "ok")

    def spoilt(spoil):
        document = copy.deepcopy(whole)
        spoil(document["tandem"]["launches"][launch], document)
        return document

    spoils = [lambda one, all: one.pop("cell"), lambda one, all: one.update(status="fine"),
              lambda one, all: one.update(step_seconds=[]), lambda one, all: one["step_seconds"].append(0),
              lambda one, all: one["step_seconds"].append(None), lambda one, all: one["cell"].update(devices=0),
              lambda one, all: one["machine"].update(cores="two"), lambda one, all: all.pop("benchmarks"),
              lambda one, all: all["tandem"].update(schema_version="1.8.0"),
              lambda one, all: (one.update(status="failed"), one.pop("reason"))]
    assert check.is_valid(whole)
    for number, spoil in enumerate(spoils):
        assert not check.is_valid(spoilt(spoil)), f"mistake {number} passes"


def case_version(tandem, program, source, folder):
    """Another major version is refused in one line that names the file and says what to do."""
    example(program, folder)
    journal = '{"tandem_journal": "2.0.0", "sweep": {}, "context": {}}\n'
    for version, remedy in (("3.0.0", "is newer than 2.0.0, which this program reads; use a newer tandem"),
                            ("1.8.0", "is older than 2.0.0, which this program reads; tandem 0.1.0 reads it")):
        for name, text in (("results.json", (folder / "a.json").read_text()), ("journal.jsonl", journal)):
            other = folder / name
            other.write_text(text.replace('"2.0.0"', f'"{version}"'))
            ended = subprocess.run([tandem, "report", other, "--out", folder / "out"], check=False, capture_output=True, text=True)
            assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended
            assert f"schema version {version} {remedy}" in ended.stderr and str(other) in ended.stderr, ended.stderr


def main():
    tandem, program, source, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        globals()["case_" + case](tandem, program, Path(source), Path(name))


if __name__ == "__main__":
    main()
