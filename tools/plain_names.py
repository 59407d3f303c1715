"""Report vague names, homonyms and mannered phrases in a source tree.

    python tools/plain_names.py truebleu kernel/src --max-vague 2.0 --max-pattern 3.0

The exit status is 1 if the share of vague names (in percent) or the number of mannered phrases
per 1,000 lines exceeds its limit, in all trees together or in one package (a directory directly
below a tree), or if there are too many homonyms. `--show FILE` lists each finding in the files
whose path contains FILE.
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from source_text import Binding, Prose, Source, source_paths

# Names that say neither what a value is nor what a function does when they stand on their own
# (`found`, but not `found_paths`). Words with an idiomatic use are left out on purpose: before,
# after, left, right, first, last, rest, seen, here, when, then, which, put, sent, expected, actual,
# missing, parsed, matched, selected, result, item, value, key, part, data, all, any, next.
PRONOUNS = """
    both each every few fewest least many mine more most one ones other others ours own several some
    such that theirs these this those what who
"""
ADVERBS = """
    about again alone apart at behind beside besides by further how of on there together where why
"""
PARTICIPLES = """
    asked brought called carried chosen counted drawn found given got held kept known lasting listed
    looked made meant named noted noticed said served shown sought taken told usual walked wanted
    written
"""
EMPTY_WORDS = "dear matter stuff thing things whole"
VAGUE = frozenset(f"{PRONOUNS} {ADVERBS} {PARTICIPLES} {EMPTY_WORDS}".split())

# Idioms of SQL, comparisons, sorting, joins and flags, such as `__eq__(self, other)`, `sort(by=)`,
# and a flag `found` that starts as False.
IDIOMS = {
    "definition": {"where"},
    "parameter": {"by", "how", "on", "other"},
    "field": {"by", "on"},
    "local": {"written"},
    "flag": {"called", "found"},
}

# Names that every program, test module or benchmark may define.
SHARED_NAMES = {"main", "parse_arguments", "run", "setup", "teardown"}

MANNERED_PHRASES = {
    "is no X": r"(?<!\bthere )\b(?:is|are|was|were) no\b(?! (?:longer|more|less|fewer|need)\b)",
    "that of": r"\b(?:that|those) of\b|\bthose (?:that|which|who|with|from)\b",
    "the one": r"\bthe ones?\b(?!-| hand| way)",
    "What …": r"^(?:What|Who|Whose|Whether|Where|How(?! (?:to|many|much)\b))\b[^?]*$",
    "Of …": r"^(?:Of|Nor|Neither) (?!course)[a-z]",
    "what is": r"(?<!^)\b(?<!find out )what (?:is|was|has|are|were|no|nobody)\b[^?]*$",
    "told": r"\b(?:told|spoken of)\b|\b(?:is|are|was|were) (?:said|asked|meant)\b",
    "alone": r"(?<!left )(?<!leaves )(?<!stand )(?<!stands )\balone[.,;:]?$",
    "of its own": r"\bof (?:its|their|one's|our|your|(?:a |the )?user's|somebody's) own\b",
    "as X has it": r"\bas (?:\w+ ){0,2}(?:has|have|had) (?:it|them)\b",
    "that there is": r"\b(?:that|which|as|than) there (?:is|are|was|were)\b",
    "beside": r"\bbeside\b",
    "nobody": r"\b(?:somebody|anybody|nobody|whoever|anew|need be|for want of|lest)\b",
    "knows of": r"\bknow[ns]? (?:nothing|no|of)\b|\bnothing of\b",
    "lies in": r"\b(?:lies?|lay) (?:in|beside|where|there|on|together|elsewhere)\b",
    "so many": r"\bso many\b|\bas many\b(?!.* as\b)",
    "a row a segment": r"(?:^|[,:;(] ?)(?:an?|one) \w+ an? \w+\b",
    "is to be": r"\b(?:is|are|was|were) (?:not )?to be\b",
    "metaphor": r"\b(?:an?|the|this|each|every) (?:house|room)\b|\brooms\b|\bdear(?:er|est)?\b",
    "made again": r"\b(?:makes?|gives?|made) (?:it |them )?again\b|\bheld equal\b",
}
PATTERNS = {
    title: re.compile(pattern, 0 if pattern.startswith("^") else re.IGNORECASE)
    for title, pattern in MANNERED_PHRASES.items()
}
SENTENCE_END = re.compile(r"(?<=[.!?]) +")


def is_vague(binding: Binding) -> bool:
    """Return whether a name is a vague word, or begins with `of_`."""
    word = binding.name.strip("_").lower()
    return (word in VAGUE or word.startswith("of_")) and word not in IDIOMS.get(binding.kind, ())


def find_mannered_phrases(prose: Prose) -> list[str]:
    """Return the titles of the patterns that the sentences of a text match."""
    sentences = SENTENCE_END.split(prose.text)
    return [title for text in sentences for title, regex in PATTERNS.items() if regex.search(text)]


class Report:
    """Counts over all files, and a printer of the findings in files that the user selects."""

    def __init__(self) -> None:
        self.names: Counter[Path] = Counter()
        self.vague: Counter[Path] = Counter()
        self.lines: Counter[Path] = Counter()
        self.phrases: Counter[Path] = Counter()
        self.words: Counter[str] = Counter()
        self.titles: Counter[str] = Counter()
        self.modules: defaultdict[tuple[str, str], set[Path]] = defaultdict(set)

    def add_file(self, path: Path, shown: str | None) -> None:
        """Count names and phrases of a file; print its findings if its path contains `shown`."""
        source = Source(path)
        findings = []
        self.lines[path] = source.line_count
        for binding in source.bindings():
            self.names[path] += 1
            if is_vague(binding):
                self.vague[path] += 1
                self.words[binding.name.strip("_").lower()] += 1
                findings.append(f"{path}:{binding.line}: {binding.kind} `{binding.name}`")
        for prose in source.prose():
            for title in find_mannered_phrases(prose):
                self.phrases[path] += 1
                self.titles[title] += 1
                findings.append(f"{path}:{prose.line}: “{title}”: {prose.text:.100}")
        for name in source.top_level_names() - SHARED_NAMES:
            if not name.startswith("test_"):
                self.modules[source.language, name.strip("_")].add(path)
        if shown and shown in path.as_posix():
            print(*findings, sep="\n")

    def compute_shares(self, package: str = "") -> tuple[float, float]:
        """Return a package's percentage of vague names, and its phrases per 1,000 lines."""

        def total(counts: Counter[Path]) -> int:
            return sum(count for path, count in counts.items() if belongs_to(path, package))

        return (
            100 * total(self.vague) / max(total(self.names), 1),
            1000 * total(self.phrases) / max(total(self.lines), 1),
        )

    def list_packages(self) -> list[str]:
        """Return the directories directly below the trees."""
        return sorted({"/".join(path.parts[:2]) for path in self.lines if len(path.parts) > 2})

    def count_homonyms(self, min_modules: int) -> dict[tuple[str, str], int]:
        """Return the top-level names that at least `min_modules` modules define, with counts."""
        counts = {name: len(paths) for name, paths in self.modules.items()}
        return {name: count for name, count in counts.items() if count >= min_modules}

    def print_summary(self, top: int, homonym_modules: int) -> None:
        """Print the totals, the most frequent findings, and the files with the most findings."""
        homonyms = self.count_homonyms(homonym_modules)
        vague_percent, phrase_rate = self.compute_shares()
        print(f"vague names: {self.vague.total():,} of {self.names.total():,}", end=" ")
        print(f"({vague_percent:.1f}%)")
        print(f"mannered phrases: {self.phrases.total():,} in {self.lines.total():,}", end=" ")
        print(f"lines ({phrase_rate:.1f} per 1,000)")
        print(f"homonyms (top level of {homonym_modules} modules or more): {len(homonyms)}\n")
        print("vague:", *(f"{word} {n}," for word, n in self.words.most_common(2 * top)))
        print("phrases:", *(f"{title} {n}," for title, n in self.titles.most_common()))
        common = sorted(homonyms.items(), key=lambda entry: (-entry[1], entry[0]))[: 2 * top]
        print("homonyms:", *(f"{name} {n} ({language})," for (language, name), n in common))
        print("\nvague names  phrases  lines  file")
        findings = self.vague + self.phrases
        for path, _ in findings.most_common(top):
            counts = f"{self.vague[path]:5} of {self.names[path]:<4} {self.phrases[path]:6}"
            print(f"{counts} {self.lines[path]:6}  {path}")


def belongs_to(path: Path, package: str) -> bool:
    """Return whether a file belongs to a package; every file belongs to the empty name."""
    return not package or path.as_posix().startswith(f"{package}/")


def main() -> int:
    """Check the directories that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trees", nargs="*", default=["."], help="directories to check")
    parser.add_argument("--max-vague", type=float, default=2.0, help="percentage of vague names")
    parser.add_argument("--max-pattern", type=float, default=3.0, help="phrases per 1,000 lines")
    parser.add_argument("--max-homonyms", type=int, default=15, help="number of homonyms")
    parser.add_argument("--modules", type=int, default=4, help="modules that define a homonym")
    parser.add_argument("--top", type=int, default=15, help="number of files to list")
    parser.add_argument("--show", metavar="FILE", help="list the findings in matching files")
    options = parser.parse_args()
    report = Report()
    for path in source_paths(options.trees):
        report.add_file(path, options.show)
    report.print_summary(options.top, options.modules)
    failures = []
    for package in ("", *report.list_packages()):
        vague_percent, phrase_rate = report.compute_shares(package)
        if vague_percent > options.max_vague or phrase_rate > options.max_pattern:
            name = package or "all trees"
            failures.append(f"{name}: {vague_percent:.1f}% vague, {phrase_rate:.1f} phrases")
    homonym_count = len(report.count_homonyms(options.modules))
    if homonym_count > options.max_homonyms:
        failures.append(f"{homonym_count} homonyms (at most {options.max_homonyms})")
    print(*("", *failures), sep="\nlimit exceeded: ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
