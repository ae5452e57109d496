"""What other tools make of an exported graph, each as a function (source file, target file, example).

anon        all names and notes removed
ort         saved by ONNX Runtime after its extended optimizations
onnxsim     onnx-simplifier
onnxscript  onnxscript's optimizer
int8        dynamic quantization (onnxruntime.quantization)
qdq         static quantization with QuantizeLinear/DequantizeLinear pairs, calibrated on the example
fp16        converted to float16 (onnxruntime.transformers)
"""

import io
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout

import onnx
import onnxruntime as ort


def anonymous(source, target, example):
    """The same graph without any names and notes that could reveal where a node comes from."""
    model = onnx.load(source)
    names = {v.name: v.name for v in list(model.graph.input) + list(model.graph.output)}
    names[""] = ""

    def fresh(name):
        return names.setdefault(name, f"v{len(names)}")

    def walk(graph):
        graph.ClearField("value_info")
        graph.doc_string = ""
        for init in graph.initializer:
            init.name, init.doc_string = fresh(init.name), ""
            del init.metadata_props[:]
        for node in graph.node:
            node.name = node.doc_string = ""
            del node.metadata_props[:]
            node.input[:] = [fresh(n) for n in node.input]
            node.output[:] = [fresh(n) for n in node.output]
            for attribute in node.attribute:
                for sub in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    walk(sub)
                    for value in list(sub.input) + list(sub.output):
                        value.name = fresh(value.name)

    walk(model.graph)
    onnx.save(model, target)


def half_anonymous(source, target):
    """The same graph with the names and notes of every other node gone: its neighbours must speak for it.
    Returns which nodes these are."""
    model = onnx.load(source)
    kept = {v.name for v in model.graph.output}
    names, bare = {}, []
    for number, node in enumerate(model.graph.node):
        node.input[:] = [names.get(n, n) for n in node.input]
        nests = any(a.HasField("g") or a.graphs for a in node.attribute)
        if number % 2 or nests:
            continue
        bare.append(number)
        node.name = node.doc_string = ""
        del node.metadata_props[:]
        for place, name in enumerate(node.output):
            if name and name not in kept:
                node.output[place] = names[name] = f"v{number}_{place}"
    for info in model.graph.value_info:
        info.name = names.get(info.name, info.name)
    onnx.save(model, target)
    return bare


def optimized(source, target, example):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = target
    options.log_severity_level = 4
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def simplified(source, target, example):
    import onnxsim

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        model, valid = onnxsim.simplify(onnx.load(source), check_n=0)
    if not valid:
        raise RuntimeError("onnxsim's own check failed")
    onnx.save(model, target)


def rewritten(source, target, example):
    from onnxscript import optimizer

    model = optimizer.optimize(onnx.load(source))
    onnx.checker.check_model(model)  # it leaves uses of values that it removed in some models
    onnx.save(model, target)


def quantized_dynamic(source, target, example):
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(source, target)


def quantized_static(source, target, example):
    from onnxruntime.quantization import CalibrationDataReader, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    names = {i.name for i in onnx.load(source, load_external_data=False).graph.input}

    class Once(CalibrationDataReader):
        def __init__(self):
            self.left = [{k: v for k, v in example.items() if k in names}]

        def get_next(self):
            return self.left.pop() if self.left else None

    with tempfile.TemporaryDirectory() as folder:
        inferred = os.path.join(folder, "inferred.onnx")
        quant_pre_process(source, inferred, skip_optimization=True, skip_symbolic_shape=True)
        quantize_static(inferred, target, Once())


def float16(source, target, example):
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


# The first two are the corpus of the tagging goals; the others are further variants.
CORE = {"anon": anonymous, "ort": optimized}
FURTHER = {
    "onnxsim": simplified,
    "onnxscript": rewritten,
    "int8": quantized_dynamic,
    "qdq": quantized_static,
    "fp16": float16,
}
