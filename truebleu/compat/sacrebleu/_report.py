"""Scores as sacreBLEU prints them: lines, JSON, tables, and the scores of parts of test sets."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

# The numbers of colours in the escape sequences of terminals.
NAMES = ("BLACK", "RED", "GREEN", "YELLOW", "BLUE", "MAGENTA", "CYAN", "WHITE")
COLOURS = {name: number for number, name in enumerate(NAMES, 30)}
COLOURS |= {f"LIGHT{name}_EX": number + 60 for name, number in COLOURS.items()}
COLOURS["RESET"] = 39


class Color:
    """Colours on terminals."""

    ENABLE_COLORS: ClassVar[bool] = True

    @staticmethod
    def format(msg: str, color: str) -> str:
        """The message in a colour ("red", "lightblue_ex"), if colours are enabled and it is one."""
        number = COLOURS.get(color.upper())
        if not Color.ENABLE_COLORS or number is None:
            return msg
        return f"\x1b[{number}m{msg}\x1b[0m"


def print_single_results(results: list[str], args: Any) -> None:
    """Prints the scores of one system, one per metric, with their equals signs aligned."""
    if args.format == "json":
        print("[\n" + ",\n".join(results) + "\n]" if len(results) > 1 else results[0])
        return
    if "μ" in results[0]:
        import re

        interval = re.compile(r"\(μ = [0-9.]+ ± [0-9.]+\)")
        for number, line in enumerate(results):
            results[number] = interval.sub(lambda found: Color.format(found[0], "cyan"), line)
    split = [line.partition(" =") for line in results]
    widest = max(len(name) for name, _, _ in split)
    for name, sign, score in split:
        print(f"{name:>{widest}}{sign}{score}" if sign else name)


def _format_score_lines(
    scores: dict[str, Any], width: int = 2, multiline: bool = True
) -> dict[str, list[str]]:
    """Results as cells of a table: the score, its interval, the p-value.

    The names of metrics mention intervals, from the first metric on that has them.
    """
    table = {}
    has_intervals = False
    for name, results in scores.items():
        cells = []
        for result in results:
            if isinstance(result, str):
                cells.append(result)
                continue
            cell = f"{result.score:.{width}f}"
            if result.mean is not None:
                has_intervals = True
                cell += f" ({result.mean:.{width}f} ± {result.ci:.{width}f})"
            if result.p_value is not None:
                cell += ("\n" if multiline else " ") + _p_value(result.p_value)
            cells.append(cell)
        table[f"{name} (μ ± 95% CI)" if has_intervals else name] = cells
    return table


def _p_value(p: float) -> str:
    """A p-value: with a star if it is significant, in red if not."""
    text = f"(p = {p:.4f})"
    return Color.format(text, "red") if p > 0.05 else f"{text}*"


def print_results_table(
    results: Mapping[str, Any], signatures: Mapping[str, str], args: Any
) -> None:
    """Prints the scores of several systems, an explanation of the test, and the signatures."""
    if args.format == "json":
        print(_as_json(results))
        return
    from ._table import fancy_grid, latex_booktabs

    is_latex = args.format == "latex"
    cells = _format_score_lines(dict(results), args.width, multiline=not is_latex)
    baseline = _coloured_baseline(cells)
    columns = {Color.format(name, "cyan"): column for name, column in cells.items()}
    print((latex_booktabs if is_latex else fancy_grid)(columns, args.width))
    print()
    if args.paired_bs or args.paired_ar:
        _explain_test(baseline, args)
    print("-----------------\nMetric signatures\n-----------------")
    for name, signature in signatures.items():
        print(f" - {name:<10} {signature}")


def _as_json(results: Mapping[str, Any]) -> str:
    import json

    names = ["system", *list(results)[1:]]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*results.values(), strict=True)]
    # The numbers may be NumPy's, of which JSON knows only those of double precision.
    return json.dumps(
        rows, indent=4, default=lambda one: vars(one) if hasattr(one, "p_value") else float(one)
    )


def _coloured_baseline(cells: Mapping[str, list[str]]) -> str:
    """Colours the baseline's row, if the first row is one, and returns the baseline's name."""
    name = cells["System"][0]
    if not name.startswith("Baseline:"):
        return ""
    for column in cells.values():
        column[0] = Color.format(column[0], "yellow")
    return name


def _explain_test(baseline_name: str, args: Any) -> None:
    """Prints an explanation of the test, and of what follows from it."""
    if args.paired_bs:
        test, count = "bootstrap resampling", f"{args.paired_bs_n} resampling trials"
        given = "Actual system score / bootstrap estimated true mean / 95% CI are provided"
    else:
        test, count = "approximate randomization", f"{args.paired_ar_n} trials"
        given = "Actual system score is provided"
    title = f"Paired {test} test with {count}"
    name = Color.format(baseline_name, "yellow")
    baseline = Color.format("baseline", "yellow")
    hypothesis = Color.format("Null hypothesis", "green")
    red = Color.format("highlighted in red", "red")
    rule = "-" * len(title)
    print(f"""\
{rule}
{title}
{rule}
 - Each system is pairwise compared to {name}.
   {given} for each metric.

 - {hypothesis}: the system and the {baseline} translations are essentially
   generated by the same underlying process. For a given system and the {baseline},
   the p-value is roughly the probability of the absolute score difference (delta)
   or higher occurring due to chance, under the assumption that the {hypothesis.lower()} is correct.

 - Assuming a significance threshold of 0.05, the {hypothesis.lower()} can be rejected
   for p-values < 0.05 (marked with "*"). This means that the delta is unlikely to be attributed
   to chance, hence the system is significantly "different" than the {baseline}.
   Otherwise, the p-values are {red}.

 - NOTE: Significance does not tell whether a system is "better" than the {baseline} but rather
   emphasizes the "difference" of the systems in terms of the replicability of the delta.
""")


def print_subset_results(
    metrics: Mapping[str, Any],
    full_system: Sequence[str],
    full_refs: Sequence[Sequence[str]],
    args: Any,
) -> None:
    """Prints one system's scores on parts of test sets, by original language and by domain."""
    from ._subsets import filter_subset, get_available_origlangs, get_available_subsets

    segments = (args.test_set, args.langpair)
    languages = [args.origlang] if args.origlang else get_available_origlangs(*segments)
    if not languages:
        print("No subset information found. Consider using --origlang argument.")
        return
    domains = get_available_subsets(*segments) if args.subset is None else [args.subset]
    rows: list[tuple[str, int, Any]] = []
    for language in languages:
        for domain in (None, *domains):
            streams = filter_subset([full_system, *full_refs], *segments, language, domain)
            system, *references = map(list, streams)
            if system:
                part = f"origlang={language}{_of_domain(domain)}"
                scores = [metric.corpus_score(system, references) for metric in metrics.values()]
                rows += [(part, len(system), score) for score in scores]
    width = max((len(part) for part, _, _ in rows), default=0) + 1
    named = max((len(score.name) for _, _, score in rows), default=0)
    for part, count, score in rows:
        label = Color.format(f"{part:<{width}}", "yellow")
        number = f"{score.score:.{args.width}f}"
        print(f"{label}: sentences={count:<6} {score.name:<{named}} = {number}")


def _of_domain(domain: str | None) -> str:
    """The name of a part of a test set behind its language."""
    if domain is not None and domain.startswith("country:"):
        return f" country={domain.removeprefix('country:')}"
    return f" domain={'ALL' if domain is None else domain}"
