"""Chromium without a window, driven through its pipe (the DevTools protocol: JSON between NULs)."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TIMEOUT_S = 120


class Browser:
    def __init__(self, width=1200, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix="eqloom-browser-")
        # The browser's ends are descriptors 3 and 4, which it must be started with.
        low = [*os.pipe(), *os.pipe()]
        there, self.out, self.back, here = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
        for end in low:
            os.close(end)
        start = (f"import os, sys; os.dup2({there}, 3); os.dup2({here}, 4); os.execv(sys.argv[1], sys.argv[1:])")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                 f"--user-data-dir={self.profile}", "--remote-debugging-pipe"]
        self.process = subprocess.Popen([sys.executable, "-c", start, CHROMIUM, *flags], pass_fds=(there, here),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(there)
        os.close(here)
        self.number, self.events, self.rest, self.session = 0, [], b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.out)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.rest:
            data = os.read(self.back, 1 << 16)
            assert data, "the browser has ended"
            self.rest += data
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, script):
        """Waits for it to be true."""
        end = time.monotonic() + TIMEOUT_S
        while not self.run(f"Boolean({script})"):
            assert time.monotonic() < end, f"never: {script}\n{self.problems()}\n{self.run('document.body.innerHTML')[:3000]}"
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def type(self, text):
        for letter in text:
            self.call("Input.insertText", text=letter)

    def key(self, key, code):
        for kind in ["rawKeyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def problems(self):
        """What the page broke: exceptions, and what its policy kept it from."""
        return [e for e in self.events if e["method"] == "Runtime.exceptionThrown" or
                (e["method"] == "Log.entryAdded" and e["params"]["entry"]["source"] in ("security", "javascript"))]

    def hosts(self):
        return {e["params"]["request"]["url"].split("/")[2] for e in self.events
                if e["method"] == "Network.requestWillBeSent" and "//" in e["params"]["request"]["url"]}
