"""Self-BLEU counted as it is defined, one text at a time, as an oracle for the count of all."""

from collections import Counter


def plain_self_bleu(metric, tokens):
    """Return each text's score with all the others as references; texts are lists of tokens."""
    parameters, formula = metric.parameters, metric.make_formula(segment=True)
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
        value = formula.compute_score(matches, totals, len(text), length)
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
