#!/usr/bin/python3
"""Runs yaml-language-server, which editors use, with the bundled schemas. The server must not mark any bundled file,
and must mark every mistake of test_schema_typos.py.

The test needs `yaml-language-server` (npm install yaml-language-server) on PATH or in the variable
YAML_LANGUAGE_SERVER, and is skipped without it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

SERVER = os.environ.get("YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server")
if not SERVER:
    print("skipped: there is no yaml-language-server")
    sys.exit(77)

import test_schema_typos as typos

ROOT = typos.ROOT


class Server:
    """A language server. It gives the diagnostics of one document after another."""

    def __init__(self):
        self.process = subprocess.Popen([SERVER, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send("initialize", {"processId": os.getpid(), "rootUri": ROOT.as_uri(), "capabilities": {
            "textDocument": {"publishDiagnostics": {}}, "workspace": {"configuration": False}}}, number=1)
        while self.receive().get("id") != 1:
            pass
        self.send("initialized", {})
        self.send("workspace/didChangeConfiguration", {"settings": {"yaml": {
            "validate": True, "schemaStore": {"enable": False}}}})

    def send(self, method, parameters, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": parameters}
        if number is not None:
            message["id"] = number
        self.write(message)

    def write(self, message):
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if "id" in message and "method" in message:  # The server sends a request to the editor.
            items = message.get("params", {}).get("items", []) if isinstance(message.get("params"), dict) else []
            self.write({"jsonrpc": "2.0", "id": message["id"], "result": [None] * len(items)})
        return message

    def faults(self, path, text):
        """Returns the messages of the diagnostics for a document at this path."""
        uri = path.as_uri()
        self.send("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                self.send("textDocument/didClose", {"textDocument": {"uri": uri}})
                return [fault["message"] for fault in message["params"]["diagnostics"]]

    def close(self):
        self.process.kill()
        self.process.communicate()


class LanguageServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_bundled_files_have_no_faults(self):
        files = [path for folder in ("models", "platforms", "scenarios")
                 for path in sorted((ROOT / folder).glob("*.yaml"))]
        self.assertGreater(len(files), 50)
        for path in files:
            text = path.read_text()
            with self.subTest(file=path.name):
                self.assertIn("yaml-language-server: $schema=", text)
                self.assertEqual(self.server.faults(path, text), [])

    def test_mistakes_are_marked_and_variants_are_not(self):
        for number, (settings, refused) in enumerate([(case, True) for case in typos.REFUSED] +
                                                     [(case, False) for case in typos.ACCEPTED]):
            text = "# yaml-language-server: $schema=../schemas/scenario.schema.json\n" + typos.text_of(settings)
            with self.subTest(settings=settings):
                faults = self.server.faults(ROOT / f"scenarios/case_{number}.yaml", text)
                self.assertEqual(bool(faults), refused, faults)


if __name__ == "__main__":
    unittest.main()
