#!/usr/bin/env python3
"""Tag forms of models that people deploy, with and without names, and score the tags.

    deployed_check.py [--work build/evaluation/deployed] [--models NAME ...] [--forms NAME ...] [--json FILE] [--untrained]

A handful of architectures whose parameters are all distinct (with --untrained: as PyTorch initialises them, with equal
norms and biases in all layers) are exported with both of PyTorch's exporters, made into every form of deployed/forms.py,
and tagged with each of four sources: htp-trace's trace, the trace that htp.export writes, the tagged export as a
reference, and htp-trace's trace together with a run of the model and of the form (executed values). Prints, for each
form, names kept or removed, and source: exact nodes, nodes of other layers, refused files; and how often answers of each
confidence are right.
"""

import argparse
import collections
import json
import logging
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "corpus"), str(HERE / "deployed"), str(ROOT / "python")]

import figures
import forms
import genai
import numpy as np
import onnx

import truth as facts
from score import score

MODELS = ("bert_tiny", "gpt2", "llama", "vit", "resnet", "t5", "mixture")
BUILT = ("genai-llama", "genai-qwen2", "genai-qwen3", "genai-gemma2")
GRAPHS = {"ts": "trace.pt", "dynamo": "trace.pt2"}


def architectures():
    """The corpus, the held-out set, and a mixture of experts."""
    from mixture import Mixture

    import heldout
    import models

    mixture = {"mixture": (Mixture, lambda: dict(input_ids=models._ids()))}
    return models.MODELS | heldout.MODELS | mixture


# --- making ------------------------------------------------------------------------------------


def exporter_of(name, folder, distinct):
    """The corpus's exporter of one architecture, for graphs of fixed sizes."""
    from export import Export

    made = Export(name, *architectures()[name], str(folder), core=True, distinct=distinct)
    made.variants = {}
    return made


def export(name, folder, distinct=True):
    """Graphs with their truth, and archives, of one architecture."""
    from export import attempt, write_json

    made = exporter_of(name, folder, distinct)
    attempt(made.result, "dynamo", made.dynamo, False)
    attempt(made.result, "pt2", made.archive, False)
    made.call_positionally()
    made.save_values()
    attempt(made.result, "ts", made.torchscript, False)
    attempt(made.result, "pt", made.trace)
    write_json(folder / "done.json", made.result)


def export_with_htp(name, folder, distinct=True):
    """The traces that htp.export writes of the same model."""
    import htp

    for exporter in ("dynamo", "torchscript"):
        target = folder / f"htp-{exporter}.onnx"
        target.with_suffix(".trace.json").unlink(missing_ok=True)
        made = exporter_of(name, folder, distinct)
        if exporter == "torchscript":
            made.call_positionally()
            inputs = dict(args=tuple(made.example.values()))
        else:
            inputs = dict(kwargs=made.example)
        try:
            htp.export(made.model, f=target, exporter=exporter, dag=False, **inputs)
        except htp.HTPError as error:
            print(f"{name}, {exporter}: {str(error).splitlines()[0]}", flush=True)
        target.unlink(missing_ok=True)


def make_forms(folder, wanted):
    example = dict(np.load(folder / "inputs.npz"))
    failed = {}
    for graph in GRAPHS:
        source = folder / f"{graph}.onnx"
        if not source.with_suffix(".truth.json").exists():
            continue
        truth = json.loads(source.with_suffix(".truth.json").read_text())
        for form in wanted:
            target = folder / f"{graph}.{form}.kept.onnx"
            if target.with_suffix(".truth.json").exists():
                continue
            try:
                after = forms.make(form, source, target, example, truth, facts.survivors)
            except Exception as error:  # due to that program, not HTP
                failed[f"{graph}.{form}"] = f"{type(error).__name__}: {str(error)[:200]}"
                continue
            bare = folder / f"{graph}.{form}.removed.onnx"
            forms.without_names(target, bare)
            for file in (bare, target):
                file.with_suffix(".truth.json").write_text(json.dumps(after))
    (folder / "failed.json").write_text(json.dumps(failed, indent=1))


def make_genai(folder, distinct=True):
    if not (folder / "done.json").exists():
        genai.make(folder.name, folder, distinct)
        print(folder.name, (folder / "done.json").read_text(), flush=True)
    for kept in folder.glob("dynamo.genai-*.kept.onnx"):
        bare = kept.with_name(kept.name.replace(".kept.", ".removed."))
        if not bare.exists():
            forms.without_names(kept, bare)
            truth = kept.with_suffix(".truth.json").read_text()
            bare.with_suffix(".truth.json").write_text(truth)


# --- tagging -----------------------------------------------------------------------------------


def execute_forms(folder, distinct=True, kinds=forms.FORMS):
    """Runs the model once for each graph, and every form of the graph on the same inputs, in files beside the forms."""
    import executing

    for graph in GRAPHS:
        made = {
            source: source.with_suffix(".executed.json")
            for source in (
                folder / f"{graph}.{form}.{names}.onnx" for form in kinds for names in figures.NAMES
            )
            if source.with_suffix(".truth.json").exists()
        }
        missing = {source: target for source, target in made.items() if not target.exists()}
        if not missing:
            continue
        exporter = exporter_of(folder.name, folder, distinct)
        if graph == "ts":
            exporter.call_positionally()
        failed = executing.write(exporter.model, exporter.example, graph == "ts", missing)
        for source, why in failed.items():
            print(f"{folder.name}/{source.name}: {why}", flush=True)


def run(command, timeout=120):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return "no answer"
    if done.returncode == 0:
        return ""
    lines = [x for x in done.stderr.splitlines() if "error" in x] or done.stderr.splitlines()
    return lines[0] if lines else f"exit code {done.returncode}"


def prepare(folder, programs):
    """Makes traces as JSON and tagged exports as references, always anew, because the programs may have changed."""
    for graph, archive in GRAPHS.items():
        if not (folder / f"{graph}.onnx").exists() or not (folder / archive).exists():
            continue
        trace = folder / f"{graph}.trace.json"
        if error := run([programs / "htp-trace", folder / archive, "-o", trace]):
            print(f"{folder.name}/{graph}: {error}")
            continue
        tag = f"--htp-tag=trace={trace}"
        if error := run(
            [
                programs / "htp-opt",
                folder / f"{graph}.onnx",
                tag,
                "-o",
                folder / f"{graph}.reference.onnx",
            ]
        ):
            print(f"{folder.name}/{graph}: {error}")


def executed_beside(file):
    """The option for what running a form showed, if it ran."""
    made = file.with_suffix(".executed.json")
    return f"executed={made}" if made.exists() else None


def option(folder, graph, source, file=None):
    """The option of --htp-tag for a source of tags. `executed` is a trace and a run of `file`."""
    if source == "executed":
        given = option(folder, graph, "trace"), file and executed_beside(file)
        return " ".join(given) if all(given) else None
    exporter = "dynamo" if graph == "dynamo" else "torchscript"
    file = {
        "trace": folder / f"{graph}.trace.json",
        "exported": folder / f"htp-{exporter}.trace.json",
        "reference": folder / f"{graph}.reference.onnx",
    }[source]
    key = "reference" if source == "reference" else "trace"
    return f"{key}={file}" if file.exists() else None


def tag_one(job, programs):
    folder, graph, form, names, source = job
    file = folder / f"{graph}.{form}.{names}.onnx"
    given = option(folder, graph, source, file)
    if not given or not file.with_suffix(".truth.json").exists():
        return None
    target = folder / "tagged" / f"{graph}.{form}.{names}.{source}.onnx"
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)
    result = {
        "model": folder.name,
        "graph": graph,
        "form": form,
        "names": names,
        "source": source,
        "error": run([programs / "htp-opt", file, f"--htp-tag={given}", "-o", target]),
    }
    truth = json.loads(file.with_suffix(".truth.json").read_text())
    if result["error"]:
        known = sum(t is not None for t in truth)
        return result | {"scored": known, "exact": 0, "contaminated": 0, "answers": []}
    tags = {m["path"]: m["tag"] for m in json.loads((folder / "tree.json").read_text())}
    counts = score(file, target, truth, tags)
    answers = []
    for node, want in zip(onnx.load(target, load_external_data=False).graph.node, truth):
        props = {p.key: p.value for p in node.metadata_props}
        if want is not None and node.op_type != "Constant" and "htp.confidence" in props:
            wanted = want if isinstance(want, list) else [want]
            answers.append((float(props["htp.confidence"]), props.get("htp.scope") in wanted))
    kept = {k: counts[k] for k in ("scored", "exact", "contaminated")}
    return result | kept | {"answers": answers}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--work", type=Path, help="build/evaluation/deployed[-untrained]")
    parser.add_argument("--untrained", action="store_true", help="weights as initialised")
    parser.add_argument("--models", nargs="*", default=[*MODELS, *BUILT])
    parser.add_argument("--forms", nargs="*", default=list(forms.FORMS))
    parser.add_argument("--sources", nargs="*", default=list(figures.SOURCES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="one line a file, with every answer")
    parser.add_argument("--traces", action="store_true", help="export the traces again")
    parser.add_argument("--make-only", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    distinct = not args.untrained
    kind = "deployed" if distinct else "deployed-untrained"
    args.work = args.work or ROOT / "build/evaluation" / kind
    folders = [args.work / name for name in args.models]
    for folder in folders:
        if folder.name in genai.architectures():
            make_genai(folder, distinct)
            continue
        if not (folder / "done.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            export(folder.name, folder, distinct)
            print(folder.name, (folder / "done.json").read_text(), flush=True)
        make_forms(folder, args.forms)
    if args.make_only:
        return 0
    for folder in folders:
        if folder.name in genai.architectures():
            continue
        if args.traces or not any(folder.glob("htp-*.trace.json")):
            export_with_htp(folder.name, folder, distinct)
        execute_forms(folder, distinct, args.forms)
    jobs = [
        (folder, graph, form, names, source)
        for folder in folders
        for graph in GRAPHS
        for form in [*args.forms, *(f"genai-{p}" for p in genai.PRECISIONS)]
        for names in figures.NAMES
        for source in args.sources
    ]
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda folder: prepare(folder, args.bin), folders))
        results = [r for r in pool.map(lambda job: tag_one(job, args.bin), jobs) if r]
    print(figures.table(results))
    print()
    print(figures.calibration(results))
    for text, count in collections.Counter(
        r["error"].split(": ")[-1][:60] for r in results if r["error"]
    ).most_common(8):
        print(f"{count:4} x {text}")
    if args.json:
        args.json.write_text("".join(json.dumps(r) + "\n" for r in results))
    if args.untrained:
        line, holds = figures.untrained(results)
        print(line)
        return 0 if holds else 1
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
