"""Computes the content hash of a trace with h5py, as sim/trace/FORMAT.md defines it.

usage: trace_hash.py TRACE. The exit code is 0 if this hash equals the hash in the file, 1 if it does not, and 77 if
h5py is not installed.
"""
import hashlib
import sys

try:
    import h5py
    import numpy
except ImportError:
    sys.exit(77)

LEFT_OUT = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "content_sha256"}


def digest(value):
    return hashlib.sha256(value).hexdigest()


def attribute_lines(path, item):
    for name in item.attrs:
        if name in LEFT_OUT:
            continue
        value = item.attrs[name]
        if isinstance(value, str):
            kind, content = "str", value.encode()
        else:
            value = numpy.asarray(value)
            kind, content = value.dtype.str, value.tobytes()
        yield ("attribute", path, name), (kind, digest(content))


def dataset_line(path, dataset):
    values = dataset[()]
    if h5py.check_string_dtype(dataset.dtype):
        texts = [values] if dataset.shape == () else [text + b"\0" for text in values]
        kind, content = "str", b"".join(texts)
    else:
        kind, content = dataset.dtype.str, numpy.asarray(values).tobytes()
    rows = ",".join(str(size) for size in dataset.shape)
    return ("dataset", path), (kind, rows, digest(content))


def content_sha256(file):
    lines = list(attribute_lines("/", file))

    def visit(name, item):
        path = "/" + name
        if path.split("/")[1] == "provenance":
            return
        if isinstance(item, h5py.Dataset):
            if item.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension but"):
                return
            lines.append(dataset_line(path, item))
        lines.extend(attribute_lines(path, item))

    file.visititems(visit)
    lines.sort(key=lambda line: "\t".join(line[0]).encode())
    text = "".join("\t".join(what + content) + "\n" for what, content in lines)
    return digest(text.encode())


if __name__ == "__main__":
    with h5py.File(sys.argv[1]) as trace:
        found, told = content_sha256(trace), trace.attrs["content_sha256"]
        assert trace["spans/start"].dims[0][0].name == "/spans/span"
        assert trace["spans/start"].attrs["units"] == "s"
        busy = trace["series/utilisation"]
        assert busy.shape == (len(trace["labels/streams/name"]), len(trace["series/time"]))
        assert [scales[0].name for scales in busy.dims] == ["/series/stream", "/series/time"]
    print(found, told)
    sys.exit(0 if found == told else 1)
