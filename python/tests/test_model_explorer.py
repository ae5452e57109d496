"""Tagged files in the real Model Explorer: its layers are the modules, and it accepts HTP's figures of nodes."""

import json
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest
from conftest import example

import htp
from htp.explorer import write_node_data

pytest.importorskip("model_explorer")
pytest.importorskip("model_explorer_onnx")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    model, args = example("transformer").build()
    path = tmp_path_factory.mktemp("explorer") / "bert.onnx"
    return htp.export(model, args, path, exporter="torchscript")


@pytest.fixture(scope="module")
def data(bert):
    files, replaced, nameless = write_node_data(bert, bert.path.with_suffix(""))
    assert [file.name for file in files] == ["bert.confidence.json", "bert.multiply_adds.json"]
    assert not replaced and not nameless
    return files


@pytest.fixture(scope="module")
def server(bert, data, tmp_path_factory):
    """The program itself, started as a user would."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("log") / "log.txt"
    command = [sys.executable, "-m", "model_explorer", str(bert.path), "--port", str(port)]
    command += ["--extensions=model_explorer_onnx", "--no_open_in_browser", "--host=localhost"]
    command += [f"--node_data_paths={data[0]}"]
    with open(log, "wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            end = time.monotonic() + 60
            while True:
                try:
                    urllib.request.urlopen(f"http://localhost:{port}/check_health", timeout=5)
                    break
                except OSError:
                    assert time.monotonic() < end and process.poll() is None, log.read_text()
                    time.sleep(0.2)
            yield f"http://localhost:{port}"
        finally:
            process.kill()


def ask(server, route, **arguments):
    query = urllib.parse.urlencode(arguments)
    with urllib.request.urlopen(f"{server}{route}?{query}", timeout=60) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def graph(server, bert):
    command = {
        "cmdId": "convert",
        "extensionId": "onnx_adapter",
        "modelPath": str(bert.path),
        "settings": {},
        "deleteAfterConversion": False,
    }
    found = ask(server, "/api/v1/send_command", json=json.dumps(command))
    assert "error" not in found, found
    return found["graphs"][0]


def test_layers_are_modules(graph, bert):
    layers = set()
    for node in graph["nodes"]:
        parts = [part for part in node["namespace"].split("/") if ": " in part or part == ":"]
        layers |= {tuple(parts[: i + 1]) for i in range(len(parts))}
    paths = {layer[-1].rpartition(": ")[0] for layer in layers}
    assert paths <= set(bert.modules)
    holding = {path for path, module in bert.modules.items() if module.total_nodes}
    assert paths == holding, "every module that made a node, and nothing else"
    assert len(layers) == len(paths) <= 48


def test_nodes_lie_in_their_modules(graph, bert):
    places = {node["id"]: node["namespace"] for node in graph["nodes"]}
    for name, node in bert.nodes.items():
        if not node.is_constant:
            assert places[name].rpartition("/")[2].startswith(f"{node.scope}: "), name


def test_it_takes_the_figures(server, graph, bert, data):
    loaded = json.loads(ask(server, "/api/v1/read_text_file", path=data[0])["content"])
    assert loaded == json.loads(data[0].read_text())
    from model_explorer import node_data_builder

    node_data_builder.GraphNodeData(**loaded)  # Model Explorer's own class accepts every key
    ids = {node["id"] for node in graph["nodes"]}
    for file in data:
        assert set(json.loads(file.read_text())["results"]) <= ids
    adds = json.loads(data[1].read_text())["results"]
    assert sum(v["value"] for v in adds.values()) == bert.modules[""].costs.total_multiply_adds
    assert loaded["results"]["/pooler/activation/Tanh"]["value"] == pytest.approx(
        bert.nodes["/pooler/activation/Tanh"].confidence
    )


def test_command(bert, tmp_path, run_htp):
    profile = htp.profile(bert.path, runs=1, warmup=0).as_json()
    (tmp_path / "p.json").write_text(json.dumps(profile))
    ended = run_htp(
        *("view", bert.path, "-o", tmp_path / "b.html", "--profile", tmp_path / "p.json"),
        *("--model-explorer", tmp_path / "b", "--json"),
    )
    files = json.loads(ended.stdout)["files"]
    assert [file.rpartition("/")[2] for file in files[1:]] == [
        "b.confidence.json",
        "b.multiply_adds.json",
        "b.time.json",
    ]
    times = json.loads((tmp_path / "b.time.json").read_text())["results"]
    owned = [m for m in profile["modules"] if bert.modules[m["path"]].own_nodes]
    expected = sum(m["self_microseconds"] for m in owned)
    assert sum(v["value"] for v in times.values()) == pytest.approx(expected)
