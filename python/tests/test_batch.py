"""`htp batch`: many models, on this machine and on a Ray cluster."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest
from conftest import ROOT, example

import htp
from htp.batching import running
from htp.batching.items import Item, find_items
from htp.cli import main
from htp.cli.batch import size_of


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """Six models without tags and their traces, in folders, and a file that is not a model."""
    folder = tmp_path_factory.mktemp("zoo")
    model, args = example("plain").build()
    tagged = htp.export(model, args, folder / "m.onnx")
    htp.native.run("htp-onnx", tagged.path, "--htp-strip", "-o", folder / "plain.onnx")
    models = folder / "models"
    for number in range(6):
        name = models / ("deep" if number % 2 else ".") / f"m{number}.onnx"
        name.parent.mkdir(parents=True, exist_ok=True)
        proto = onnx.load(folder / "plain.onnx")
        proto.graph.name = f"model {number}"
        onnx.save(proto, name)
        shutil.copy(folder / "m.trace.json", name.with_suffix(".trace.json"))
    (models / "broken.onnx").write_bytes(b"\xff\xff\xff no model")
    return models


def contents(folder):
    """All results except times."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "records" not in path.parts
    }


def test_folder(zoo, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["batch", str(zoo), "-o", str(out)]) == 1
    shown = capsys.readouterr()
    assert "6 models tagged (0 of them earlier), 1 failed" in shown.out
    assert "broken.onnx: " in shown.err
    rows = {row["name"]: row for row in csv.DictReader((out / "table.csv").open())}
    assert len(rows) == 7 and rows["broken.onnx"]["status"] == "failed"
    assert rows["broken.onnx"]["error"] and rows["deep/m1.onnx"]["placed_share"] == "1"
    assert rows["deep/m1.onnx"]["verdict"] == "fits"
    alone = htp.tag(zoo / "deep/m1.onnx", tmp_path / "m.onnx", trace=zoo / "deep/m1.trace.json")
    assert (out / "deep/m1.onnx").read_bytes() == alone.path.read_bytes()
    page = (out / "index.html").read_text()
    assert '<a href="deep/m1.onnx">' in page and "7 models, 1 failed" in page
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(out / "table.parquet").to_pylist()
    assert {row["name"]: row["nodes"] for row in table}["m0.onnx"] == 13
    assert not list(out.rglob(".htp-*"))


def test_goes_on_where_it_was(zoo, tmp_path):
    source = shutil.copytree(zoo, tmp_path / "in")
    first = htp.batch(source, tmp_path / "out")
    assert (first.done, first.skipped, len(first.failures)) == (7, 0, 1)
    before = contents(tmp_path / "out")
    again = htp.batch(source, tmp_path / "out")
    assert (again.done, again.skipped) == (1, 6), "what failed is retried"
    assert contents(tmp_path / "out") == before
    proto = onnx.load(source / "m0.onnx")
    proto.graph.name = "changed"
    onnx.save(proto, source / "m0.onnx")
    (tmp_path / "out/m2.onnx").unlink()
    shutil.copy(source / "m4.onnx", source / "broken.onnx")
    (tmp_path / "out/records/m4.onnx.json").write_text('{"half": ')
    third = htp.batch(source, tmp_path / "out")
    assert (third.done, third.skipped, third.ok) == (4, 3, True)
    assert onnx.load(tmp_path / "out/m0.onnx").graph.name == "changed"
    assert htp.batch(source, tmp_path / "out", fresh=True).done == 7


def test_glob_manifest_and_names(zoo, tmp_path):
    assert [i.name for i in find_items([f"{zoo}/**/m[13].onnx"], "x")[0]] == [
        "deep/m1.onnx",
        "deep/m3.onnx",
    ]
    lines = [
        {"model": "models/m0.onnx", "trace": "models/m0.trace.json", "name": "a/b"},
        {"model": "models/m2.onnx", "reference": "m.onnx"},
        "this is no JSON",
        {"trace": "without a model"},
        {"model": "models/m2.onnx", "colour": "red"},
        {"model": "models/m2.onnx", "name": "../outside.onnx"},
        {"model": "models/m4.onnx", "name": "models/m2.onnx"},
        {"model": "nowhere.onnx"},
    ]
    manifest = zoo.parent / "list.jsonl"
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    manifest.write_text("\n".join(text) + "\n\n")
    result = htp.batch(manifest, tmp_path / "out")
    assert sorted(r["name"] for r in result.records if r["status"] == "ok") == [
        "a/b.onnx",
        "models/m2.onnx",
    ]
    assert [(r["name"], r["error"].split(": ")[-1]) for r in result.failures] == [
        ("nowhere.onnx", "no such file")
    ]
    assert [r.where.rpartition(":")[2] for r in result.refused[:-1]] == ["3", "4", "5", "6"]
    assert "give it a name" in result.refused[-1].why
    assert (tmp_path / "out/table.csv").read_text().count("refused") == 5


def test_bad_input(zoo, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for arguments, words in (
        ([tmp_path / "none"], "no such folder, ONNX file, glob or manifest"),
        ([tmp_path / "empty"], "no ONNX file in"),
        ([f"{tmp_path}/*.onnx"], "no ONNX file in"),
        ([zoo, "--memory", "much"], "expected a size"),
        ([zoo, "--jobs", "0", "-o", tmp_path / "file/out"], "cannot write to"),
        ([zoo, "-o", "s4://nowhere"], "cannot write to s4://nowhere"),
    ):
        words_given = [str(a) for a in arguments]
        output = [] if "-o" in words_given else ["-o", str(tmp_path / "out")]
        assert main(["batch", *words_given, *output]) == 1
        assert words in capsys.readouterr().err
    assert size_of("1.5G") == 3 << 29 and size_of("500MB") == 500 << 20


def test_memory_is_bounded(zoo, tmp_path, monkeypatch):
    """Items that do not fit into memory together run one at a time."""
    now = most = 0

    def do(item, place):
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.05)
        now -= 1
        return {
            "name": item.name,
            "status": "ok",
            "figures": {},
            "warnings": [],
            "error": "",
            "files": {},
        }

    monkeypatch.setattr(running, "do_item", do)
    for memory, wanted in ((1, 1), (150 << 20, 2), (1 << 40, 4)):
        most = 0
        htp.batch(zoo, tmp_path / f"{memory}", jobs=4, memory=memory)
        assert most == wanted


def test_external_data_and_urls(zoo, tmp_path):
    source, data = tmp_path / "in", "w.bin"
    source.mkdir()
    proto = onnx.load(zoo / "m0.onnx")
    onnx.save(proto, source / "e.onnx", save_as_external_data=True, location=data, size_threshold=0)
    result = htp.batch(source, f"file://{tmp_path}/out")
    assert result.ok, result.failures
    onnx.checker.check_model(str(tmp_path / "out/e.onnx"))
    assert onnx.load(tmp_path / "out/e.onnx").graph.initializer[0].raw_data
    assert htp.batch(source, f"file://{tmp_path}/out").skipped == 1
    assert contents(tmp_path / "out").keys() >= {"e.onnx", data, "table.csv", "index.html"}


def test_full_disk(zoo, tmp_path):
    """On a file system of 60 kB: finished models are kept, and a message says what is wrong."""
    if os.geteuid() or subprocess.run(["unshare", "--mount", "true"]).returncode:
        pytest.skip("no small file system can be mounted here")
    out, keep = tmp_path / "out", tmp_path / "keep"
    out.mkdir()
    keep.mkdir()
    script = (
        f"mount -t tmpfs -o size=60k tmpfs {out} && {sys.executable} -m htp batch {zoo} -o {out} --jobs 1;"
        f'status=$?; cp -r {out}/. {keep}; exit "$status"'
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, env=env
    )
    assert ended.returncode == 1
    assert f"stopped: no space left in {out}; finished models are kept" in ended.stderr
    assert "Traceback" not in ended.stderr
    done = [p for p in keep.rglob("m*.onnx") if "records" not in p.parts]
    assert 0 < len(done) < 6
    again = htp.batch(zoo, keep)
    assert again.skipped == len(done) and len(again.failures) == 1, "it goes on with more room"


def test_interrupted(zoo, tmp_path):
    """Control-C stops it; the next run continues."""
    code = (
        "import signal, sys, time; sys.path.insert(0, sys.argv[1]); import htp.batching.running as r\n"
        # A shell starts background jobs with this signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "real = r.do_item\n"
        "def slow(*a):\n    time.sleep(0.4); return real(*a)\n"
        "r.do_item = slow\n"
        "from htp.cli import main; sys.exit(main(['batch', *sys.argv[2:], '--jobs', '1']))"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-c", code, str(ROOT / "python"), str(zoo), "-o", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(out.glob("records/**/*.json")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in shown
    done = htp.batch(zoo, out).skipped
    assert 0 < done < 6


# --- Ray -----------------------------------------------------------------------------------------

DRIVER = """
import json, sys, htp
result = htp.batch(sys.argv[1], sys.argv[2], ray=sys.argv[3])
print(json.dumps([result.done, result.skipped, len(result.failures)]))
"""


@pytest.fixture(scope="module")
def cluster():
    """Two nodes on this machine."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = str(ROOT / "python")
    os.environ["RAY_DISABLE_IMPORT_WARNING"] = "1"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()
    del os.environ["PYTHONPATH"]


def workers():
    """Ray's processes that are working on an item."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"ray::do_item" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_ray_with_a_worker_killed(zoo, cluster, tmp_path):
    """The results have the same bytes as without Ray; nothing is lost or done twice."""
    source = tmp_path / "in"
    for number in range(8):
        shutil.copytree(zoo, source / str(number))
    here = htp.batch(source, tmp_path / "here")
    assert here.done == 56 and len(here.failures) == 8
    command = [sys.executable, "-c", DRIVER, str(source), str(tmp_path / "there"), cluster.address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    records = tmp_path / "there/records"
    killed = 0
    while process.poll() is None and not killed:
        if len(list(records.rglob("*.json"))) >= 3:
            for worker in workers()[:1]:
                os.kill(worker, signal.SIGKILL)
                killed += 1
        time.sleep(0.005)
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err[-3000:]
    assert killed, "no worker was caught at work"
    assert json.loads(out.splitlines()[-1]) == [56, 0, 8], out
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert not list((tmp_path / "there").rglob(".htp-*")), "nothing of the killed worker is left"


def test_ray_cluster_that_is_not_there(zoo, tmp_path, run_htp):
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1", "nonsense"):
        ended = run_htp("batch", zoo, "-o", tmp_path / "out", "--ray", address)
        assert ended.returncode == 1
        assert f"htp: error: no Ray cluster at {address!r}" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_without_ray(zoo, tmp_path, run_htp):
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError('ray', name='ray')")
    env = {"PYTHONPATH": f"{tmp_path}:{ROOT / 'python'}"}
    ended = run_htp("batch", zoo, "-o", tmp_path / "out", "--ray", "auto", env=env)
    assert ended.returncode == 1 and "pip install 'htp[ray]'" in ended.stderr


def test_key(tmp_path):
    """The key changes with everything it depends on, and with nothing else."""
    model = tmp_path / "m.onnx"
    model.write_bytes(b"1")
    first = Item("m.onnx", str(model)).key()
    assert Item("m.onnx", str(model)).key() == first
    assert Item("m.onnx", str(model), force=True).key() != first
    (tmp_path / "m.onnx.data").write_bytes(b"1")
    assert Item("m.onnx", str(model)).key() != first
