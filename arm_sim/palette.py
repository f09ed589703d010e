"""Colours of curves, which also colour-blind eyes tell apart."""

# Okabe and Ito, "Color Universal Design", 2008, without its yellow, and a grey.
COLORS = (
    '#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#999999',
)  # fmt: skip
