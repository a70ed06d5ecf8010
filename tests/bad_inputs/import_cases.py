"""Each case is an ONNX model or a layer graph of PipeDream with one error."""

from cases import Case
from documents import GRAPH


def message(number, content):
    """Returns a field of a protobuf message. The content is bytes, a text or a number."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytearray([value]))


def tensor_info(name, *extents):
    """Returns a ValueInfoProto. The extents are numbers, or the names of symbolic extents."""
    dims = b"".join(message(1, message(2 if isinstance(e, str) else 1, e)) for e in extents)
    return message(1, name) + message(2, message(1, message(1, 1) + message(2, dims)))


def node(op, reads, makes, domain="", **integers):
    attributes = [message(5, message(1, k) + message(3, v) + message(20, 2)) for k, v in integers.items()]
    parts = [message(1, r) for r in reads] + [message(2, m) for m in makes]
    return message(1, b"".join(parts) + message(3, op.lower()) + message(4, op) + b"".join(attributes) + message(7, domain))


def onnx(*nodes, extents=("N", 4), opset=13, output="y"):
    graph = b"".join(nodes) + message(11, tensor_info("x", *extents)) + message(12, message(1, output))
    return message(1, 7) + message(8, message(2, opset)) + message(7, graph)


RELU = onnx(node("Relu", ["x"], ["y"]))


def of_onnx(name, says, content, *overrides, at="m.onnx"):
    return Case(name, 3, at, says, "m.onnx", content=content, run=["model", "m.onnx", *overrides])


def of_graph(name, at, says, old, new, *overrides):
    assert old in GRAPH, name
    text = GRAPH.replace(old, new, 1)
    return Case(name, 3, f"m.graph.txt{at}", says, "m.graph.txt", content=text,
                run=["model", "m.graph.txt", *(overrides or ["batch=2"])])


CASES = [
    of_onnx("an empty ONNX file", ["empty"], b""),
    of_onnx("an ONNX file that ends early", ["not a complete ONNX file", "bytes"], RELU[:-3]),
    of_onnx("text instead of an ONNX file", ["not a complete ONNX file"], b"format: sluice-model/1\n"),
    of_onnx("a pickle instead of an ONNX file", ["pickle, which is never read"], b"\x80\x04\x95\x00"),
    of_onnx("a PyTorch checkpoint instead of an ONNX file", ["zip archive"], b"PK\x03\x04\x00\x00"),
    of_onnx("an ONNX file without nodes", ["no nodes"], onnx()),
    of_onnx("an unknown operator", ["Frob, 1 time (frob)", "as_zero=[Frob]"], onnx(node("Frob", ["x"], ["y"]))),
    of_onnx("an operator of as_zero that the model does not have", ["'Tanh' in 'as_zero'", "it has: Relu"], RELU, "as_zero=[Tanh]", at="as_zero=[Tanh]:1:10"),
    of_onnx("a symbolic dimension without a value", ["the extents of width", "width=128"], onnx(node("Relu", ["x"], ["y"]), extents=("N", "width"))),
    of_onnx("an unknown symbolic dimension", ["no symbolic dimension 'M'", "it has: N"], RELU, "M=3", at="M=3:1:3"),
    of_onnx("a key that neither the file nor its document has", ["unknown key 'foo'", "a .onnx file are batch, as_zero", "made from it are format, name"], RELU, "foo.bar=3", at="foo.bar=3:1:9"),
    of_onnx("a scenario whose model has a batch of zero", ["'0' for 'batch'", "at least 1"], RELU, "model.batch=0", at="model.batch=0:1:13"),
    of_onnx("a model with a batch of zero", ["'0' for 'batch'", "at least 1"], RELU, "batch=0", at="batch=0:1:7"),
    of_onnx("a node that reads an unknown tensor", ["reads 'z', but no earlier node makes this tensor"], onnx(node("Relu", ["z"], ["y"])), at="m.onnx:1:1"),
    of_onnx("an ONNX sum of tensors with different extents", ["Add is not possible"], onnx(node("Concat", ["x", "x"], ["z"], axis=1), node("Add", ["x", "z"], ["y"])), at="m.onnx:2:1"),
    of_onnx("an ONNX tensor whose number of elements does not fit into 64 bits", ["elements"], onnx(node("Relu", ["x"], ["y"]), extents=(1, 1 << 40, 1 << 40))),
    Case("a layer graph as the base of a document with further keys", 3, "model.yaml:2:7", ["keys cannot be added to the file", "sluice import"], "model.yaml", content="file: small.graph.txt\nname: mine\nlayers: []\n", run=["model", "model.yaml"]),
    Case("a file of a kind that Sluice cannot import", 3, "scenario.yaml", ["no importer", ".onnx"], run=["import", "scenario.yaml"]),
    Case("a PyTorch file to import", 3, "m.pt", ["no importer", ".onnx"], "m.pt", content=b"PK\x03\x04", run=["import", "m.pt"]),
    of_graph("a layer graph, but no batch for which it was measured", "", ["'batch' is missing"], "node1", "node1", "loading=counted"),
    of_graph("a layer graph with another batch", ":1:1", ["64 bytes", "each of 3 samples", "check the value of batch"], "node1", "node1", "batch=3"),
    of_graph("a layer graph with an invalid time", ":2:1", ["'soon'", "a number"], "=1.5", "=soon"),
    of_graph("a layer graph with a cycle", ":", ["form a cycle"], "\tnode1 -- node2\n", "\tnode1 -- node2\n\tnode2 -- node2\n"),
    of_graph("a layer graph with an edge to an unknown layer", ":3:1", ["'node3'"], "node1 -- node2", "node1 -- node3"),
]
