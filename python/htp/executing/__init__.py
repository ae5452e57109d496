"""Runs a PyTorch model and an ONNX graph of it on the same inputs, and finds out which values of the graph are what module
calls took and returned. docs/formats/executed.md describes the result, from which the native programs tag."""
