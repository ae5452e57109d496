"""The models of benchmarks/compile.py and profiling.py: transformers' configurations with random weights."""

import re

#: What layered compilation may take of flat.
LIMITS = {
    "llama32": 0.4,
    "bert12": 0.6,
    "gpt2_12": 0.6,
    "vit12": 0.6,
    "llama8_cache": 0.7,
    "llama8_cache_dynamic": 0.7,
}
QUICK = {"bert12": 0.6, "llama8_cache": 0.7}

LENGTH = 64


def width(name):
    """BERT, GPT-2 and ViT are as wide as the models of these names; the Llamas are narrow, but wide enough that a call of a
    layer, which takes some 10 us, is not what is measured."""
    return 256 if "cache" not in name else 512


def llama(layers, hidden, **options):
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=hidden,
        num_attention_heads=4,
        num_hidden_layers=layers,
        num_key_value_heads=2,
        intermediate_size=2 * hidden,
        max_position_embeddings=128,
        **options,
    )
    return transformers.LlamaForCausalLM(config)


def build(name):
    """(model, inputs of its forward by name)."""
    import torch
    import transformers

    ids = torch.randint(3, 900, (1, LENGTH))
    if name.startswith("llama"):
        layers = int(re.match(r"llama(\d+)", name)[1])
        model = llama(layers, width(name), use_cache="cache" in name)
        if name.endswith("_all"):  # a constant only in the layer's code
            for layer in model.model.layers:
                layer.self_attn.scaling *= 0.5
        if name.endswith("_one"):
            model.model.layers[layers // 2].mlp.act_fn = torch.nn.GELU()
        return model, {"input_ids": ids}
    if name == "bert12":
        config = transformers.BertConfig(vocab_size=1000)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return transformers.BertModel(config), inputs
    if name == "gpt2_12":
        config = transformers.GPT2Config(
            vocab_size=1000, use_cache=False, bos_token_id=1, eos_token_id=2
        )
        return transformers.GPT2LMHeadModel(config), {"input_ids": ids}
    if name == "vit12":
        return transformers.ViTModel(transformers.ViTConfig(image_size=128)), {
            "pixel_values": torch.randn(1, 3, 128, 128)
        }
    if name == "resnet50":
        return transformers.ResNetForImageClassification(transformers.ResNetConfig()), {
            "pixel_values": torch.randn(1, 3, 224, 224)
        }
    raise SystemExit(f"no model {name!r}")


def sizes(name):
    """Lengths of symbolic dimensions."""
    return {}


def distinct(model):
    """As after training, no two parameters are equal; an exporter would store equal ones once."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return model.eval()


def with_cache(model, inputs, dynamic):
    """A decoder's step: `inputs` and caches of an earlier text."""
    import torch
    import transformers

    ids = inputs["input_ids"][:, :1].repeat(2 if dynamic else 1, 1)
    past = transformers.DynamicCache()
    config = model.config
    shape = (ids.shape[0], config.num_key_value_heads, LENGTH - 1, config.hidden_size // 4)
    for layer in range(config.num_hidden_layers):
        past.update(torch.randn(shape), torch.randn(shape), layer)
    mask = torch.ones(ids.shape[0], LENGTH, dtype=torch.long)
    return {"input_ids": ids, "attention_mask": mask, "past_key_values": past, "use_cache": True}


def export(name, path):
    import torch

    import htp

    torch.manual_seed(0)
    model, inputs = build(name)
    dynamic = name.endswith("dynamic")
    if "cache" in name:
        inputs = with_cache(model, inputs, dynamic)
    htp.export(
        distinct(model),
        (),
        path,
        kwargs=inputs,
        exporter="dynamo",
        dynamic_shapes="auto" if dynamic else None,
    )
