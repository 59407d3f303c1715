"""The parts that all views share: a few kinds of block, and each format's way of writing them.

blocks.py      headings, paragraphs, tables, marked words, equations, charts
numbers.py     numbers as people read them
equations.py   formulas with their numbers, as text, LaTeX and MathML
lines.py       blocks as lines of text; terminal.py colours them
markdown.py    latex.py    html.py    separated.py    one format each
markup.py      chart.py     text and links in HTML; values over time as SVG
view.py        a dict that is a contract, and all that can be made of it
"""
