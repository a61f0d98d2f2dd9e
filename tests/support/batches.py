"""Batches, cut into smaller ones."""


def split(inputs, size):
    names, parts = inputs.keys(), zip(*(x.split(size) for x in inputs.values()), strict=True)
    return [dict(zip(names, part, strict=True)) for part in parts]
