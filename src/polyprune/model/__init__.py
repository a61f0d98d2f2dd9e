"""The gated encoder: one class, many shapes; gates are an argument.

Axes, in signatures and comments: `b` batch, `s` sequence, `w` width, `h` heads, `e` head width,
`u` units, `r` rank, `l` languages.
"""
