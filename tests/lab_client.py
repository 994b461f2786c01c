"""`pslc lab` in a folder of its own, asked over HTTP as its page asks it."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from shlex import quote

from benches.small import PROFILE

EXECUTABLE = Path(sys.executable).parent / "pslc"


class LabClient:
    """A server, with `small.toml` in its folder and temporary files in another one."""

    def __init__(self, folder, *arguments):
        self.folder, self.temporary = folder / "here", folder / "tmp"
        for made in (self.folder, self.temporary):
            made.mkdir()
        (self.folder / "small.toml").write_text(PROFILE)
        browser = folder / "browser"
        browser.write_text(f'#!/bin/sh\necho "$@" > {quote(str(folder / "opened"))}\n')
        browser.chmod(0o700)
        environment = os.environ | {
            "BROWSER": f"{quote(str(browser))} %s",
            "XDG_STATE_HOME": str(folder),
            "TMPDIR": str(self.temporary),
            "PYTHONUNBUFFERED": "1",
        }
        self.log = folder / "log.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [EXECUTABLE, "lab", "--port", "0", *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=log,
                text=True, env=environment, start_new_session=True,
            )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.split(":")[2].split("/")[0])

    def open(self, path, data=None):
        """Headers and body of an answer."""
        with urllib.request.urlopen(self.address + path, data, timeout=60) as answer:
            return answer.headers, answer.read()

    def get(self, path, **query):
        """JSON of a GET."""
        words = urllib.parse.urlencode(query, doseq=True)
        return json.loads(self.open(f"{path}?{words}" if words else path)[1])

    def post(self, path, **request):
        """JSON of a POST."""
        return json.loads(self.open(path, json.dumps(request).encode())[1])

    def refusal(self, path, data=None):
        """Status, and the error in words."""
        try:
            self.open(path, data)
        except urllib.error.HTTPError as error:
            said = json.loads(error.read())
            return error.code, f"{said['message']}\n\nhint: {said['hint']}"
        raise AssertionError("it is not refused")

    def upload(self, *paths):
        """Files that belong together, as the page sends them."""
        return json.loads(self.open("api/upload", uploaded(*paths))[1])

    def done(self, task):
        """The state of a task once it has ended."""
        while task["code"] is None:
            time.sleep(0.1)
            task = self.get("api/task", name=task["id"])
        return task

    def findings(self, task):
        """Findings of the recording that a task made."""
        ended = self.done(task)
        assert ended["code"] == 0, ended["errors"]
        return json.loads((self.folder / "runs" / ended["recording"] / "run.json").read_text())["findings"]

    def command(self, *words):
        """Findings of a command in the same folder."""
        done = subprocess.run([EXECUTABLE, *words, "--json"], cwd=self.folder, capture_output=True, check=True)
        return json.loads(done.stdout)["findings"]

    def close(self):
        """End the server, however it takes it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def uploaded(*paths):
    """Body of an upload."""
    contents = [path.read_bytes() for path in paths]
    head = {"names": [path.name for path in paths], "sizes": [len(content) for content in contents]}
    return json.dumps(head).encode() + b"\n" + b"".join(contents)
