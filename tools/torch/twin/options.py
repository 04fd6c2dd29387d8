# SPDX-License-Identifier: Apache-2.0
"""The options of torch's cells. options.json is the one list, which `tandem` has built in; here it is read."""
import argparse
import json
import pathlib

LIST = json.loads((pathlib.Path(__file__).resolve().parents[1] / "options.json").read_text(encoding="utf-8"))


def values(option):
    """The values that the option may have, the usual one first; empty where the option takes a number."""
    return option["values"].split("|") if "values" in option else []


def usual(option):
    return (values(option) or [option.get("usual")])[0]


def attribute(option):
    return option["name"].replace("-", "_")


def whole(least):
    def read(text):
        if not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {least}")
        return text
    return read


def add_to(parser):
    for option in LIST:
        form = {"choices": values(option)} if values(option) else {"type": whole(option["least"]), "metavar": "NUMBER"}
        note = f"{option['of']}: " if "of" in option else ""
        parser.add_argument("--" + option["name"], default=usual(option), help=note + option["help"], **form)


def misplaced(options):
    """(flag, whose it is) of each that is set and that the strategy lacks."""
    return [(f"--{option['name']}", option["of"].replace("|", ", ")) for option in LIST
            if options.strategy not in option.get("of", options.strategy).split("|")
            and getattr(options, attribute(option)) != usual(option)]


def named(options):
    """The options in a cell's name: what differs from torch's default, as text."""
    given = {option["name"]: getattr(options, attribute(option)) for option in LIST if getattr(options, attribute(option)) != usual(option)}
    return {name: str(value) for name, value in given.items()}
