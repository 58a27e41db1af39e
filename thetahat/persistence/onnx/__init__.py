"""Models as ONNX graphs, which other runtimes evaluate without Python."""
