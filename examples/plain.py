"""A model of plain PyTorch, exported and tagged: `python examples/plain.py`."""

import torch


class Block(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(size)
        self.fc = torch.nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.relu(self.fc(self.norm(x)))


class Net(torch.nn.Module):
    def __init__(self, size: int = 8) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(size) for _ in range(3)])
        self.head = torch.nn.Linear(size, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def build() -> tuple[Net, tuple[torch.Tensor]]:
    return Net(), (torch.randn(1, 8),)


if __name__ == "__main__":
    import htp

    model, args = build()
    tagged = htp.export(model, args, output="plain.onnx")
    print(tagged.tree())
    for node in tagged.nodes_in("blocks.1"):
        print(f"{node.name:40} {node.tag}")
