"""Drives a headless Chromium over the pipes of its DevTools protocol; needs nothing but Python and Chromium."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chromium:
    """A browser without a window. Ends with the `with` block."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="kassay-chromium-")
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        command = [
            "sh", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "sh",
            program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "--disable-gpu",
            "--hide-scrollbars", "--no-first-run", "--force-color-profile=srgb", "--disable-dev-shm-usage",
            # As root, Chromium has no sandbox; the pages are made here.
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ]
        self.process = subprocess.Popen(
            command, pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.out, self.into = os.fdopen(from_read, "rb"), os.fdopen(to_write, "wb")
        self.last, self.left, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(20)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile.name, ignore_errors=True)

    def _message(self):
        while b"\0" not in self.left:
            piece = self.out.read1(1 << 16)
            if not piece:
                raise EOFError("Chromium has ended")
            self.left += piece
        text, self.left = self.left.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, session=None, **params):
        """Calls a method of the protocol and returns its result."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self.into.write(json.dumps(message).encode() + b"\0")
        self.into.flush()
        while True:
            answer = self._message()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, session, method, seconds=60):
        """Waits for an event of a page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for at, event in enumerate(self.events):
                if event.get("sessionId") == session and event["method"] == method:
                    return self.events.pop(at)["params"]
            self.events.append(self._message())
        raise TimeoutError(method)

    def open(self, url, scheme="light", width=1280, height=900):
        """Opens a page in a tab of its own and waits until it is loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            page.send(f"{domain}.enable")
        page.show(scheme, width, height)
        begin = time.monotonic()
        page.send("Page.navigate", url=url)
        self.wait_for(session, "Page.loadEventFired")
        # Until the next frame is drawn.
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        page.opened_s = time.monotonic() - begin
        metrics = {metric["name"]: metric["value"] for metric in page.send("Performance.getMetrics")["metrics"]}
        # What the page's thread computed; unlike the time on the wall it does not grow when other programs run.
        page.computing_s = metrics["TaskDuration"]
        return page


class Page:
    """A tab."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def show(self, scheme="light", width=1280, height=900):
        """Sets the colours that the user prefers and the size of the window."""
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        """Evaluates an expression of JavaScript in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def errors(self):
        """What the console has complained about, and requests to anywhere but the page's own file."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            what, params = event["method"], event["params"]
            if what == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"].get("exception", params["exceptionDetails"])))
            elif what == "Runtime.consoleAPICalled":
                found.append(f"console.{params['type']}: {params['args']}")
            elif what == "Log.entryAdded":
                found.append(f"{params['entry']['source']}: {params['entry']['text']}")
            elif what == "Network.requestWillBeSent" and not params["request"]["url"].startswith("file:"):
                found.append(f"request of {params['request']['url']}")
            elif what == "Page.javascriptDialogOpening":
                found.append("a dialog")
        return found

    def screenshot(self, path, clip=None):
        """Writes a PNG of the window, or of a part of the page: x, y, width, height."""
        params = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1), "captureBeyondViewport": True} if clip else {}
        data = self.send("Page.captureScreenshot", format="png", **params)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        """Prints to a PDF of A4 pages."""
        data = self.send("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
