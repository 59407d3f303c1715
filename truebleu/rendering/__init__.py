"""Code that all views share: a few kinds of blocks, and one renderer per format.

elements.py       headings, paragraphs, tables, marked tokens, equations, charts
number_format.py  readable numbers, and percentages on a 0-1 scale
equations.py      formulas with their numbers, as text, LaTeX and MathML
text_layout.py    blocks as lines of text; terminal.py colours them
markdown.py       latex.py    html.py    one format each
table_writers.py  tables of any size, as text, TSV, CSV, JSON, Parquet and NumPy files
html_escape.py    svg_chart.py    text and links in HTML; values over time as SVG
view.py           a dict with fixed contents, and its output formats
"""
