"""Graphs that no exporter made: ONNX Runtime GenAI's builder writes them from a checkpoint.

Small decoders with random weights are saved as checkpoints, built in each precision, and traced with PyTorch.
The truth is read from the builder's own names (`/model/layers.0/attn/qkv_proj/MatMul`). A scope that is a module
of the tree, after the builder's few own words, is that module. What the builder packs (q, k and v, gate and up)
belongs to the module that contains the parts, or to any of them; what it makes of the attention mask belongs to
the model. Nodes beside an operation that has parameters (`k_proj/repeat_kv/…`, reshapes around a norm) are computed
by PyTorch in the module around it, so either is correct.
"""

import json
import subprocess
import sys

import onnx

PRECISIONS = ("fp32", "fp16", "int4", "int8")
SIZES = dict(
    vocab_size=256,
    hidden_size=64,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=128,
    max_position_embeddings=64,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)


def architectures():
    import transformers as T

    return {
        "genai-llama": lambda: T.LlamaForCausalLM(T.LlamaConfig(**SIZES)),
        "genai-qwen2": lambda: T.Qwen2ForCausalLM(T.Qwen2Config(**SIZES)),
        "genai-qwen3": lambda: T.Qwen3ForCausalLM(T.Qwen3Config(**SIZES, head_dim=16)),
        "genai-gemma2": lambda: T.Gemma2ForCausalLM(T.Gemma2Config(**SIZES, head_dim=16)),
    }


def make(name, folder, distinct=True):
    """The checkpoint, its archives and references, and the builder's graphs with truth."""
    import torch
    import transformers as T
    from tokenizers import Tokenizer, models

    import truth as facts

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = architectures()[name]().eval()
    for parameter in model.parameters() if distinct else ():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    model.save_pretrained(folder / "checkpoint")
    words = dict(bos_token="<s>", eos_token="</s>", pad_token="<p>")
    tokenizer = T.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), **words)
    tokenizer.save_pretrained(folder / "checkpoint")
    model.config.use_cache = False
    tree = facts.tree_of(model)
    (folder / "tree.json").write_text(json.dumps(tree))
    paths = {m["path"] for m in tree}
    result = {}
    for precision in PRECISIONS:
        result[precision] = build(folder, precision, paths, SIZES["num_hidden_layers"])
    inputs = dict(
        input_ids=torch.randint(3, 200, (1, 8)), attention_mask=torch.ones(1, 8, dtype=torch.long)
    )
    torch.export.save(torch.export.export(model, (), kwargs=inputs), folder / "trace.pt2")
    torch.onnx.export(model, (), folder / "dynamo.onnx", kwargs=inputs, dynamo=True, verbose=False)
    (folder / "done.json").write_text(json.dumps(result))


def build(folder, precision, paths, layers):
    output = folder / precision
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-m", "local"]
    command += ["-i", folder / "checkpoint", "-o", output, "-p", precision]
    command += ["-e", "cpu", "-c", folder / "cache"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or not (output / "model.onnx").exists():
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:200]
    model = onnx.load(output / "model.onnx")
    target = folder / f"dynamo.genai-{precision}.kept.onnx"
    onnx.save(model, target)
    truth = [module_of(node, paths, layers) for node in model.graph.node]
    target.with_suffix(".truth.json").write_text(json.dumps(truth))
    return len(model.graph.node)


def module_of(node, paths, layers):
    """The module that the builder's name refers to; None if it refers to none."""
    scopes = node.name.strip("/").split("/")[:-1]
    if not scopes:
        return None
    if scopes[:2] == ["model", "attn_mask_reformat"]:
        return ["model", ""]
    if len(scopes) > 1 and scopes[1] == f"layers.{layers}":
        return "model.norm"
    own = {"attn": "self_attn"}
    wanted = ".".join(own.get(scope, scope) for scope in scopes)
    above = wanted.rpartition(".")[0]
    if wanted in paths:
        moves = node.op_type in ("Reshape", "Transpose", "Cast", "Unsqueeze", "Squeeze")
        return [wanted, above] if moves and above in paths else wanted
    while above not in paths:
        above = above.rpartition(".")[0]
    packed = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
    if scopes[-1] in packed:
        return [above, *(f"{above}.{p}" for p in packed[scopes[-1]] if f"{above}.{p}" in paths)]
    is_leaf = not any(path.startswith(f"{above}.") for path in paths)
    return [above, above.rpartition(".")[0]] if is_leaf else above
