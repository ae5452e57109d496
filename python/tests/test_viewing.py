"""The document and the page of `htp view` without a browser: the command, its errors, the server, and the page's build."""

import json
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from html.parser import HTMLParser

import pytest
from conftest import ROOT

import htp
from htp.editing import EditServer
from htp.viewing import TEMPLATE, document, page

VIEWER = ROOT / "viewer"


class Parts(HTMLParser):
    """The parts of a page that a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.scripts, self.metas = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append([dict(attrs), ""])
        if tag == "meta":
            self.metas.append(dict(attrs))

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1][1] += data


def data_of(text: str):
    return json.loads(Parts(text).scripts[0][1])


def test_command(net, tmp_path, run_htp):
    model = tmp_path / "net.onnx"
    shutil.copy(net, model)
    ended = run_htp("view", model)
    assert ended.returncode == 0, ended.stderr
    assert "net.html: 4 operations of 6 modules" in ended.stdout
    again = run_htp("view", model)
    assert f"replaced {tmp_path / 'net.html'}" in again.stderr
    found = json.loads(run_htp("view", model, "-o", tmp_path / "p.html", "--json").stdout)
    assert found["files"] == [str(tmp_path / "p.html")] and found["replaced"] == []
    assert (tmp_path / "p.html").read_text() == (tmp_path / "net.html").read_text()


def test_document(net):
    model = htp.load(net)
    found = document(model)
    assert [m["path"] for m in found["modules"]] == list(model.modules)
    assert [m["parent"] for m in found["modules"]] == [-1, 0, 1, 2, 1, 4]
    names = found["nodes"]["name"]
    assert names == ["/layers.0/fc/MatMul", "Add#2", "mask", "mask#4"]
    # neither has a unique name: overrides use the values that they make
    assert dict(found["handles"]) == {1: "a", 2: "k", 3: "y"}
    pairs = list(zip(found["edges"][::2], found["edges"][1::2]))
    assert pairs == [(0, 1), (1, 2), (2, 3)]
    assert found["unsure"] == [2]
    contexts = [(names[n], found["modules"][m]["path"]) for n, m, *_ in found["contexts"]]
    assert contexts == [("mask", "layers.0"), ("mask", "layers.1")]


def test_page_holds_all_and_reaches_nothing(net):
    text = page(document(htp.load(net)))
    parts = Parts(text)
    policy = next(m["content"] for m in parts.metas if "Security" in m.get("http-equiv", ""))
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy
    assert not re.search(r"unsafe|https?:", policy)
    assert len(parts.scripts) == 2 and parts.scripts[0][0]["type"] == "application/json"
    assert not {"link", "img", "iframe", "object"} & set(parts.tags)
    assert not re.search(r"\b(src|href)=[\"']?https?:", text)
    assert data_of(text) == json.loads(json.dumps(document(htp.load(net))))


def test_data_cannot_leave_its_element(net):
    content = document(htp.load(net))
    evil = "</script><!--<script>{{data}}\u2028\ud800\"'"
    content["file"] = evil
    text = page(content)
    assert len(Parts(text).scripts) == 2
    assert data_of(text)["file"] == evil


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("missing.onnx",), "no such file"),
        (("untagged.onnx",), "carries no tags"),
        (("net.onnx", "-o", "no/such/folder/p.html"), "does not exist"),
        (("net.onnx", "-o", "net.onnx"), "is the model"),
        (("net.onnx", "--profile", "untagged.onnx"), "is not JSON output of 'htp profile'"),
        (("net.onnx", "--profile", "diff.json"), "is not JSON output of 'htp profile'"),
        (("net.onnx", "--diff", "profile.json"), "is not JSON output of 'htp diff'"),
        (("net.onnx", "--profile", "profile.json"), "is a profile of another model"),
        (("net.onnx", "--diff", "diff.json"), "is a comparison of another model"),
        (("net.onnx", "--profile", "half.json"), "is incomplete"),
        (("net.onnx", "--dim", "batch"), "expected NAME=SIZE"),
        (("net.onnx", "--edit", "-o", "p.html"), "would have no effect"),
        (("net.ops.json", "--edit"), "is not an ONNX file"),
    ],
)
def test_bad_input(arguments, message, net, tmp_path, run_htp):
    shutil.copy(net, tmp_path / "net.onnx")
    before = (tmp_path / "net.onnx").read_bytes()
    htp.native.run("htp-opt", net, "--htp-strip", "-o", tmp_path / "untagged.onnx")
    htp.native.run("htp-opt", net, f"--op-metadata={tmp_path / 'net.ops.json'}", "-o=")
    other = {"path": "other.module", "self_microseconds": 1, "total_microseconds": 1}
    profile = {
        "format": "htp-profile",
        "version": 1,
        "file": "f",
        "source": "s",
        "runs": 1,
        "node_microseconds": 1,
        "model_microseconds": 1,
        "attributed": 1,
        "modules": [other],
    }
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    (tmp_path / "half.json").write_text('{"format": "htp-profile", "version": 1}')
    compared = {"module": "other.module", "relative": 1, "added": 1, "parts": True}
    diff = {
        "format": "htp-diff",
        "version": 1,
        "first_file": "a",
        "second_file": "b",
        "tolerance": 1,
        "equal": True,
        "first": None,
        "comparisons": [compared],
        "missing": [],
    }
    (tmp_path / "diff.json").write_text(json.dumps(diff))
    ended = run_htp("view", *arguments, cwd=tmp_path)
    assert ended.returncode == 1 and message in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr and ended.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.html"))
    assert (tmp_path / "net.onnx").read_bytes() == before


def test_without_the_model_itself(net, tmp_path, run_htp):
    sidecar = tmp_path / "net.ops.json"
    htp.native.run("htp-opt", net, f"--op-metadata={sidecar}", "-o=")
    ended = run_htp("view", sidecar)
    assert ended.returncode == 0 and "contains no sizes" in ended.stderr
    found = data_of((tmp_path / "net.ops.html").read_text())
    assert found["nodes"]["multiply_adds"] == [None] * 4


# --- the server ----------------------------------------------------------------------------------


@pytest.fixture
def server(net, tmp_path):
    path = tmp_path / "net.onnx"
    shutil.copy(net, path)
    found = EditServer(path)
    thread = threading.Thread(target=found.run)
    thread.start()
    yield found
    found.stop()
    thread.join()


def ask(server, path="/", body=None, **headers):
    """The status and the text of an answer; `headers` as X_HTP_Token."""
    address = f"http://{server.hosts[0]}{path}"
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json", **named})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_server_shows_the_page_to_who_has_the_address(server):
    status, text = ask(server, f"/?token={server.token}")
    assert status == 200
    assert data_of(text)["edit"] == {"token": server.token, "file": "net.onnx"}
    assert "connect-src 'self'" in text
    assert ask(server)[0] == 403
    assert ask(server, "/?token=wrong")[0] == 403
    assert ask(server, f"/?token={server.token}", Host="evil.example")[0] == 403, "rebound names"
    assert ask(server, f"/etc/passwd?token={server.token}")[0] == 404
    assert server.server.server_address[0] == "127.0.0.1"


def test_server_writes_only_for_its_own_page(server):
    before = server.path.read_bytes()
    body = {"nodes": {"k": "layers.1"}}
    origin, token = f"http://{server.hosts[0]}", server.token
    assert ask(server, "/overrides", body)[0] == 403
    assert ask(server, "/overrides", body, X_HTP_Token="x", Origin=origin)[0] == 403
    assert ask(server, "/overrides", body, X_HTP_Token=token)[0] == 403, "no origin"
    evil = "http://evil.example"
    assert ask(server, "/overrides", body, X_HTP_Token=token, Origin=evil)[0] == 403
    assert ask(server, "/overrides", body, X_HTP_Token=token, Origin=origin, Host="evil")[0] == 403
    assert server.path.read_bytes() == before
    status, text = ask(server, "/overrides", body, X_HTP_Token=token, Origin=origin)
    assert (status, json.loads(text)) == (
        200,
        {"message": "1 correction written into net.onnx."},
    )
    found = htp.load(server.path)
    assert (found.node("k").scope, found.node("k").evidence) == ("layers.1", "override")
    assert "override" in ask(server, f"/?token={token}")[1], "the page is the new one"


def test_server_refuses_what_is_no_correction(server):
    before = server.path.read_bytes()
    origin, token = f"http://{server.hosts[0]}", server.token
    for body, message in (
        ({"nodes": {"k": "no.such.module"}}, "no.such.module"),
        ({"nodes": {"k": 3}}, "expected the name of a module"),
        ([], "expected the name of a module"),
    ):
        status, text = ask(server, "/overrides", body, X_HTP_Token=token, Origin=origin)
        assert status == 400 and message in json.loads(text)["message"]
    assert server.path.read_bytes() == before
    body = {"nodes": {"nobody": "layers.1"}}
    status, text = ask(server, "/overrides", body, X_HTP_Token=token, Origin=origin)
    assert status == 200 and "Warning" in json.loads(text)["message"]


def test_server_explains(server):
    status, text = ask(server, "/explain?node=k", X_HTP_Token=server.token)
    assert status == 200 and "used by two" in json.loads(text)["message"]
    assert ask(server, "/explain?node=k")[0] == 403
    assert ask(server, "/explain?node=nobody", X_HTP_Token=server.token)[0] == 400


# --- how the page is built -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def node():
    program = shutil.which("node")
    if not program or not (VIEWER / "node_modules").is_dir():
        pytest.skip("needs Node.js 18 or newer when 'make setup' runs")
    return program


def test_page_is_the_one_that_the_sources_give(node, tmp_path):
    built = tmp_path / "page.html"
    subprocess.run([node, "build.mjs", str(built)], cwd=VIEWER, check=True, capture_output=True)
    assert built.read_bytes() == TEMPLATE.read_bytes(), "run 'make viewer' and commit the result"


def test_logic_of_the_page(node):
    """The page's own tests, and its type check."""
    build = [node, "build.mjs", "--test"]
    subprocess.run(build, cwd=VIEWER, check=True, capture_output=True)
    ended = subprocess.run(
        [node, "--test", "build/test.mjs"], cwd=VIEWER, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout
    assert int(re.search(r"pass (\d+)", ended.stdout)[1]) > 10
    compiler = VIEWER / "node_modules/typescript/bin/tsc"
    ended = subprocess.run([node, compiler], cwd=VIEWER, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


def test_lock_file_names_no_registry():
    text = (VIEWER / "package-lock.json").read_text()
    assert '"resolved"' not in text and "://" not in re.sub(r'"(url|funding)": "[^"]*"', "", text)
    versions = json.loads((VIEWER / "package.json").read_text())
    pinned = {**versions["dependencies"], **versions["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pinned.values())
