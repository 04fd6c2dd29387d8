# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium with one page, driven through its DevTools protocol over a websocket.

Python's standard library alone: the handshake and the frames that the protocol needs are short. Not
thread-safe; a command's answer is awaited, and events that come meanwhile are kept in `events`.
"""
import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
DEADLINE = 120  # seconds that an answer may take, on a loaded machine


def program():
    """Path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Socket:
    """Text frames to and from a websocket server on this machine."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"the browser refused the websocket: {head[:200]!r}")

    def _more(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise RuntimeError("the browser closed the connection")
        return part

    def _take(self, count):
        while len(self.rest) < count:
            self.rest += self._more()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def send(self, text):
        body = text.encode()
        size = len(body)
        head = bytes([0x81])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        mask = bytes(4)  # the protocol wants one; zeros leave the text as it is
        self.socket.sendall(head + mask + body)

    def receive(self):
        """The next message, whose frames are joined."""
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            body = self._take(size)
            if first & 0x0F in (0, 1):
                message += body
                if first & 0x80:
                    return message.decode()


class Page:
    """A file, opened in a browser of its own; `events` holds what the page did since."""

    def __init__(self, width=1400, height=1000):
        # The browser's helpers may still write there when it has ended.
        self.folder = tempfile.TemporaryDirectory(prefix="tandem_page_", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.events = []
        self.count = 0
        self.socket = None
        try:
            self._connect()
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _connect(self):
        written = pathlib.Path(self.folder.name) / "DevToolsActivePort"
        end = time.monotonic() + DEADLINE
        while not (written.exists() and written.read_text().count("\n")):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the browser did not start (exit status {self.process.poll()})")
            time.sleep(0.05)
        port, path = written.read_text().split("\n")[:2]
        self.session = None
        self.socket = Socket(int(port), path)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") != self.count:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def resize(self, width, height=1000):
        self.width = width
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def open(self, path):
        """Loads the file; returns seconds until it is drawn."""
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads(self.socket.receive()))
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - start

    def evaluate(self, script):
        """The value of an expression, a promise's when it is settled."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return answer["result"].get("value")

    def press(self, key):
        code, number = {"Tab": ("Tab", 9), " ": ("Space", 32)}[key]
        text = {"text": key} if key == " " else {}
        for kind, more in (("keyDown", text), ("keyUp", {})):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, **more)

    def complaints(self):
        """Errors, warnings and exceptions that the console showed."""
        found = []
        for event in self.events:
            kind, written = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                found.append(written["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif kind == "Runtime.consoleAPICalled" and written["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(written["args"])[:500])
            elif kind == "Log.entryAdded":
                found.append(written["entry"]["text"])
        return found

    def requests(self):
        """Addresses that the page asked for, its own included."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def close(self):
        if self.socket:
            self.socket.socket.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()
