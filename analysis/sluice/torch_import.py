"""Models from torch modules."""


def from_torch(module, example_inputs):
    raise NotImplementedError
