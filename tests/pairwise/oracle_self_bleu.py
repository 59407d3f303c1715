"""Self-BLEU counted as it is defined, one text at a time, as an oracle for the count of all."""

from collections import Counter

from truebleu._kernel import Table


def plain_self_bleu(metric, tokens):
    """Return each text's score with all the others as references; texts are lists of tokens."""
    parameters = metric.parameters
    # Average lengths have a fraction, so all lengths are multiplied by the number of references.
    unit = len(tokens) - 1
    formula = metric.make_formula(segment=True, length_unit=unit)
    min_matches = 1 if metric.resolve_missing_order(segment=True) == "at-least-one" else 0
    values = []
    for i, text in enumerate(tokens):
        other_texts = tokens[:i] + tokens[i + 1 :]
        matches, totals = [], []
        for order in range(1, metric.max_order + 1):
            highest = Counter()
            for reference in other_texts:
                highest |= ngrams(reference, order)
            matches.append((ngrams(text, order) & highest).total())
            totals.append(max(min_matches, len(text) - order + 1))
        length = reference_length(parameters, len(text), [len(other) for other in other_texts])
        row = [len(text), round(length * unit), *matches, *totals]
        (value,) = formula.scores(Table.from_rows([row], len(row)))
        values.append(100.0 / metric.natural_scale * value)
    return values


def ngrams(tokens, order):
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def reference_length(parameters, length, lengths):
    rule = parameters["reference_length"]
    if rule == "average":
        return sum(lengths) / len(lengths)
    if rule == "average-truncated":
        return int(sum(lengths) / len(lengths))
    if rule in ("shortest", "longest"):
        return {"shortest": min, "longest": max}[rule](lengths)
    ties = {"shorter": lambda n: n, "longer": lambda n: -n, "first": lengths.index}
    tie = ties[parameters["tie"]]
    return min(lengths, key=lambda n: (abs(n - length), tie(n)))
