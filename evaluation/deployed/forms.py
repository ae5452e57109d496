"""What deployment tools make of an exported graph, each as a function (source, target, example).

Every form is made by the real program: ONNX Runtime and its quantizers and optimizers, onnxslim. A form of
several steps is a chain: the truth is carried from each graph to the next by the names and values that survive
(corpus/truth.py), and only then are the names removed.

    ort_all      saved by ONNX Runtime with all optimizations, including memory layouts of the CPU
    transformers onnxruntime.transformers' optimizer
    fp16, fp16_io  every float to float16, including the model's inputs and outputs or not
    int8         dynamic quantization, one scale per channel
    qdq, qop     static quantization in both formats of ONNX Runtime
    nbits4       MatMulNBits with 4 bits and blocks of 32
"""

import contextlib
import io
import os
import tempfile

import onnx
import onnxruntime as ort

import truth as facts
import variants


def ort_all(source, target, example):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = target
    options.log_severity_level = 4
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def transformers(source, target, example):
    from onnxruntime.transformers.optimizer import optimize_model

    with contextlib.redirect_stdout(io.StringIO()):
        optimize_model(source, model_type="bert", opt_level=0).save_model_to_file(target)


def _half(keep_io):
    def make(source, target, example):
        from onnxruntime.transformers.float16 import convert_float_to_float16

        onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=keep_io), target)

    return make


def int8(source, target, example):
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(source, target, per_channel=True)


def _static(style, per_channel=False):
    def make(source, target, example):
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
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
            style_ = QuantFormat.QDQ if style == "qdq" else QuantFormat.QOperator
            quantize_static(inferred, target, Once(), quant_format=style_, per_channel=per_channel)

    return make


def nbits4(source, target, example):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(onnx.load(source), bits=4, block_size=32, is_symmetric=True)
    quantizer.process()
    onnx.save(quantizer.model.model, target)


def slim(source, target, example):
    import onnxslim

    with contextlib.redirect_stdout(io.StringIO()):
        onnx.save(onnxslim.slim(onnx.load(source)), target)


# : Each form as the programs that run one after the other.
FORMS = {
    "ort_all": [ort_all],
    "transformers": [transformers],
    "fp16": [_half(False)],
    "fp16_io": [_half(True)],
    "int8": [int8],
    "qdq": [_static("qdq")],
    "qop": [_static("qop")],
    "nbits4": [nbits4],
    "transformers-fp16": [transformers, _half(True)],
    "slim-qdq": [slim, _static("qdq", per_channel=True)],
    "slim-fp16": [slim, _half(True)],
    "int8-ort_all": [int8, ort_all],
    "qdq-ort_all": [_static("qdq"), ort_all],
    "slim-transformers-nbits4": [slim, transformers, nbits4],
}


def make(form, source, target, example, truth, survivors):
    """Writes `target`, and returns the truth about its nodes."""
    with tempfile.TemporaryDirectory() as folder:
        for number, step in enumerate(FORMS[form]):
            before = onnx.load(source).graph
            made = os.path.join(folder, f"{number}.onnx")
            step(str(source), made, example)
            after = onnx.load(made).graph
            truth = list(itself(before, truth, after, survivors(before, truth, after)))
            source = made
        onnx.save(onnx.load(source), target)
    return truth


def itself(before, truth, after, survived):
    """A node that is still itself, and makes what a copy behind it made that was removed, belongs where it did,
    or where the copy did."""
    nodes = zip(before.node, truth)
    known = {node.name: (node.op_type, where) for node, where in nodes if node.name}
    for node, where in zip(after.node, survived):
        kind, own = known.get(node.name, (None, None))
        if kind != node.op_type or own is None:
            yield where
        else:
            yield facts.accept(where, own if isinstance(own, list) else [own])


def without_names(source, target):
    variants.anonymous(str(source), str(target), None)
