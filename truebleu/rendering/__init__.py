"""Code that all views share: a few kinds of blocks, and one renderer per format.

elements.py       headings, paragraphs, tables, marked tokens, equations, charts
number_format.py  readable numbers
equations.py      formulas with their numbers, as text, LaTeX and MathML
text_layout.py    blocks as lines of text; terminal.py colours them
markdown.py       latex.py    html.py    delimited.py    one format each
html_escape.py    svg_chart.py    text and links in HTML; values over time as SVG
view.py           a dict with fixed contents, and its output formats
"""
