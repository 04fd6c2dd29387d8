#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A python that has torch loaded: each start of it is a fork of one process, and takes no seconds to import torch.

    warm_python.py SOCKET MODULE...    serves starts until what started it ends; MODULEs are loaded as well, if they are there

of(python) is the path of a program that accepts what python does: [-B] FILE|-m MODULE|-c CODE [ARGUMENT...]. What is started has
the caller's folder, variables, cores and standard files, gets SIGKILL whatever signal ends the caller, and joins no threads at its end.
It is no place for what comes before torch: variables that its libraries read, libraries preloaded but by `before`, their threads.
"""
import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pathlib
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback

CALLER = """#!{python} -IS
import json, os, socket
from sys import argv
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {largest})  # a message has to fit
    server.connect({socket!r})
    place = [argv, os.getcwd(), dict(os.environ), list(os.sched_getaffinity(0))]
    socket.send_fds(server, [json.dumps(place).encode()], [0, 1, 2])
    status = int(server.recv(16))
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
"""
LARGEST = 1 << 18  # bytes of a caller's variables and words


def of(python, *modules, before=()):
    """Ends with this process. `before` starts the server: a program with options that becomes, by exec, the command behind it."""
    folder = tempfile.TemporaryDirectory()
    program, meeting = pathlib.Path(folder.name) / "python", f"{folder.name}/socket"
    program.write_text(CALLER.format(python=sys.executable, socket=meeting, largest=LARGEST))
    program.chmod(0o755)
    server = subprocess.Popen([*before, python, "-B", __file__, meeting, *modules], stdout=subprocess.PIPE)
    atexit.register(lambda: (server.kill(), server.wait(), folder.cleanup()))
    server.stdout.read()  # it closes the pipe once it listens
    return str(program)


def run(words):
    """As the interpreter runs them."""
    if words[0] == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    elif words[0] == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


def become(place, files):
    """In a child of the server's."""
    words, folder, variables, cores = place
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    os.chdir(folder)
    os.sched_setaffinity(0, cores)
    os.environ.clear()
    os.environ.update(variables)
    sys.executable = words[0]
    sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path]
    status = 0
    try:
        run([word for word in words[1:] if word != "-B"])
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        status = traceback.format_exc().rstrip()
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # to take torch's modules down takes a second


def answer(connection):
    """One start, in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    text, files, *_ = socket.recv_fds(connection, LARGEST, 3)
    child = os.fork()
    if child == 0:
        become(json.loads(text), files)
    ended = os.pidfd_open(child)
    if ended not in select.select([connection, ended], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def serve(path, *modules):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    for module in ("torch", "torch.distributed", "torch._dynamo", *modules):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    gc.freeze()
    del sys.path[0]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        os.dup2(2, 1)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                answer(connection)
            connection.close()


if __name__ == "__main__":
    serve(*sys.argv[1:])
