"""The server of `htp view --edit`: shows the page of a model and writes corrections into the file.

It listens only on loopback. Requests need the token from the printed address, and must name this server as their
host and, if they write, as their origin, so that no other page in the browser can use it.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import warnings
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from . import tagging
from .errors import BadInput, HTPError, HTPWarning
from .explaining import explain
from .files import check_writable
from .onnxfile import check_tagged, is_mlir
from .scratch import Scratch
from .viewing import document, page

#: The largest accepted request, more than any list of corrections needs.
_LARGEST = 64 << 20


class EditServer:
    """Serves one model until it is stopped. `address` is what a browser opens."""

    def __init__(
        self,
        model: tagging.StrPath,
        *,
        profile: tagging.StrPath | None = None,
        diff: tagging.StrPath | None = None,
    ) -> None:
        self.path = tagging.existing(model)
        if self.path.suffix == ".json" or is_mlir(self.path):
            raise BadInput(f"{self.path} is not an ONNX file, into which corrections are written")
        check_tagged(self.path)
        check_writable(self.path)
        self.overlays = {"profile": profile, "diff": diff}
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        self.shown = self._page()  # reports errors in the files before anything is served
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        port = self.server.server_address[1]
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.address = f"http://{self.hosts[0]}/?token={self.token}"

    def _page(self) -> bytes:
        model = tagging.load(self.path)
        edit = {"token": self.token, "file": self.path.name}
        return page(document(model, **self.overlays, edit=edit)).encode()

    def run(self) -> None:
        """Serves until `stop` or an interrupt."""
        try:
            self.server.serve_forever(poll_interval=0.2)
        finally:
            self.server.server_close()

    def stop(self) -> None:
        self.server.shutdown()

    def is_token(self, text: str | None) -> bool:
        return hmac.compare_digest((text or "").encode(), self.token.encode())

    def correct(self, overrides: Mapping[str, Any]) -> str:
        """Writes corrections into the file; returns a message for the user."""
        with self.lock, Scratch("htp-scratch-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", HTPWarning)  # they are in the answer
            file = folder / "overrides.json"
            file.write_text(json.dumps(overrides), encoding="utf-8")
            tagged = tagging.apply_overrides(self.path, file)
            self.shown = self._page()
        nodes = overrides.get("nodes", overrides)
        number = len(nodes)
        said = f"{number} correction{'' if number == 1 else 's'} written into {self.path.name}."
        return " ".join([said, *(f"Warning: {text}." for text in tagged.warnings)])


def _handler(edit: EditServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "htp", ""

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = parse_qs(url.query)
            if not self.is_for_us():
                return
            if url.path == "/explain":
                if self.is_allowed(self.headers.get("X-HTP-Token")):
                    self.answer_json(lambda: explain(edit.path, query.get("node", [""])[0]))
            elif url.path != "/":
                self.refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
            elif self.is_allowed(query.get("token", [""])[0]):
                self.send(HTTPStatus.OK, "text/html; charset=utf-8", edit.shown)

        def do_POST(self) -> None:
            if not self.is_for_us() or not self.is_allowed(self.headers.get("X-HTP-Token")):
                return
            if self.headers.get("Origin") not in [f"http://{host}" for host in edit.hosts]:
                return self.refuse(HTTPStatus.FORBIDDEN, "the request comes from another page")
            if urlsplit(self.path).path != "/overrides":
                return self.refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > _LARGEST:
                return self.refuse(HTTPStatus.BAD_REQUEST, "the list is too long, or has no length")
            body = self.rfile.read(int(length))
            self.answer_json(lambda: edit.correct(_overrides(body)))

        def is_for_us(self) -> bool:
            """Whether the request names this server, against DNS rebinding by another page."""
            if self.headers.get("Host") in edit.hosts:
                return True
            self.refuse(HTTPStatus.FORBIDDEN, "this server has another name")
            return False

        def is_allowed(self, token: str | None) -> bool:
            if edit.is_token(token):
                return True
            self.refuse(HTTPStatus.FORBIDDEN, "open the address that 'htp view --edit' printed")
            return False

        def answer_json(self, work: Any) -> None:
            try:
                self.send_message(HTTPStatus.OK, work())
            except HTPError as error:
                self.refuse(HTTPStatus.BAD_REQUEST, str(error))
            except Exception as error:
                self.refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")

        def refuse(self, status: HTTPStatus, message: str) -> None:
            self.send_message(status, message)

        def send_message(self, status: HTTPStatus, message: str) -> None:
            self.send(status, "application/json", json.dumps({"message": message}).encode())

        def send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
            self.send_response(status)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", str(len(body))),
                ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
                ("X-Frame-Options", "DENY"),
                ("Referrer-Policy", "no-referrer"),  # the address holds the token
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not logged."""

    return Handler


def _overrides(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise BadInput(f"invalid corrections: {error}") from error
    nodes = found.get("nodes") if isinstance(found, dict) else None
    if not isinstance(nodes, dict) or not all(isinstance(path, str) for path in nodes.values()):
        raise BadInput("invalid corrections: expected the name of a module for each node")
    return {"format": "htp-overrides", "version": 1, "nodes": nodes}
