"""Scores do not change unannounced: scores.tsv, and the section "Scores" of the changelog."""

import sys

import pytest
import score_snapshots as snapshots
from score_snapshots import Row

import truebleu as tb
from truebleu.metrics import registry
from truebleu.text import tokenizers

LIBRARY, TABLE = snapshots.read_table()
REMEDY = f"""
If the change is intended:
1. {snapshots.COMMAND}
2. In CHANGELOG.md, section "Scores" of the topmost release, say which scores change, for which
   input, and why. Name each metric in backticks, and quote the digest that the command prints.
"""
SLOW = ("meteor", "meteor-nltk")


def find_changes(entries: list[str]) -> str:
    """Return a message about rows that differ from the table, or ""."""
    new_rows = {key: row for entry in entries for key, row in snapshots.compute_rows(entry).items()}
    old_rows = {key: row for key, row in TABLE.items() if row.entry in entries}
    changes = list(snapshots.find_changes(old_rows, new_rows, LIBRARY).values())
    more = [f"… and {len(changes) - 10} more"] if len(changes) > 10 else []
    head = f"{len(changes)} rows differ from tests/project/{snapshots.TABLE.name}:"
    return "\n".join([head, *changes[:10], *more, REMEDY]) if changes else ""


def test_scores_equal_the_table():
    entries = [name for name in snapshots.list_entries() if not snapshots.OPTIONAL.fullmatch(name)]
    if message := find_changes(entries):
        pytest.fail(message, pytrace=False)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=pytest.mark.thorough if entry in SLOW else ())
        for entry in filter(snapshots.OPTIONAL.fullmatch, snapshots.list_entries())
    ],
)
def test_scores_with_optional_packages_equal_the_table(entry):
    try:
        (row, *_) = snapshots.compute_rows(entry).values()
    except ImportError as error:
        pytest.skip(str(error))
    recorded = TABLE[row.entry, row.text].signature
    if entry.startswith("tok:icu") and row.signature != recorded:
        pytest.skip(f"another release of ICU: {row.signature} (the table has {recorded})")
    if message := find_changes([entry]):
        pytest.fail(message, pytrace=False)


def test_table_contains_every_metric_tokenizer_and_member():
    entries = {row.entry for row in TABLE.values() if row.score != "removed"}
    names = {name.replace("LOCALE", "th") for name in tokenizers.TOKENIZER_NAMES}
    expected = {*registry.METRICS, *tb.family, "rouge-l-stemmed"}
    expected |= {f"tok:{name}" for name in names - {*snapshots.OMITTED_TOKENIZERS}}
    assert entries == expected


def test_changelog_announces_the_table():
    changelog = snapshots.CHANGELOG.read_text("utf-8")
    instructions = snapshots.list_unannounced(changelog, snapshots.digest_table(), TABLE.values())
    if instructions:
        head = 'CHANGELOG.md, section "Scores" of the topmost release:'
        pytest.fail("\n".join([head, *instructions]), pytrace=False)


needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses LD_PRELOAD")


@needs_linux
@pytest.mark.thorough
def test_table_states_on_what_scores_depend():
    """The other scores are equal with any exp, log and pow, and with any `sum()`."""
    for key, row in snapshots.compute_dependences().items():
        assert row.depends == TABLE[key].depends, key


@needs_linux
@pytest.mark.thorough
@pytest.mark.parametrize("direction", ["INFINITY", "-INFINITY"])
def test_last_bit_of_exp_log_and_pow_changes_at_most_13th_digit(direction):
    rows = snapshots.compute_apart("plain", f"y ? nextafter(y, {direction}) : y")
    old_rows = {key: TABLE[key] for key in rows}
    assert snapshots.find_changes(old_rows, rows, library="another") == {}
    assert snapshots.find_changes(old_rows, rows, LIBRARY) != {}


@pytest.mark.thorough
def test_scores_do_not_depend_on_vector_instructions():
    for key, row in snapshots.compute_apart("plain", TRUEBLEU_SIMD="scalar").items():
        if snapshots.fingerprint_library() == LIBRARY:
            assert row.content == TABLE[key].content


# ---- the table after a change ----

OLD = Row("bleu", "de-en", "25.5", "22.5", "library, sum", "", "nrefs:1|tok:13a")
NEXT = "## [0.2.0] - unreleased\n\n### Scores\n\n{}\n\n## [0.1.0] - 2027-01-01\n"


@pytest.mark.parametrize(
    ("new", "is_equal_elsewhere"),
    [
        (OLD, True),
        (OLD._replace(score="25.500000000000004"), True),  # the last bit
        (OLD._replace(score="25.5000000001"), False),
        (OLD._replace(segment="22.50000001"), False),
        (OLD._replace(signature="nrefs:1|tok:intl"), False),
    ],
)
def test_score_may_differ_in_last_bits_with_another_library(new, is_equal_elsewhere):
    same_library = snapshots.fingerprint_library()
    exact = OLD._replace(depends="library")
    assert snapshots.is_equal(exact, new, same_library) == (new == OLD)
    assert snapshots.is_equal(exact, new, "another") == is_equal_elsewhere
    assert snapshots.is_equal(OLD._replace(depends=""), new, "another") == (new == OLD)


@pytest.fixture
def accept(tmp_path, monkeypatch, capsys):
    """Return a function that accepts rows, and returns the output and the table."""
    monkeypatch.setattr(snapshots, "TABLE", tmp_path / "scores.tsv")
    monkeypatch.setattr(snapshots, "CHANGELOG", tmp_path / "CHANGELOG.md")

    def accept_rows(changelog: str, *rows: Row) -> tuple[str, list[Row]]:
        snapshots.CHANGELOG.write_text(changelog, "utf-8")
        new_rows = {(row.entry, row.text): row for row in rows}
        monkeypatch.setattr(snapshots, "compute_dependences", lambda: new_rows)
        snapshots.accept()
        return capsys.readouterr().out, list(snapshots.read_table()[1].values())

    return accept_rows


def test_changed_score_needs_changelog_entry_and_digest(accept):
    accept("## [0.1.0] - unreleased\n", OLD)
    changed = OLD._replace(score="26.0")
    output, (row,) = accept(NEXT.format(""), changed)
    assert row == changed._replace(changed="0.2.0")
    digest = snapshots.digest_table()
    assert output == (
        "scores.tsv: 1 rows, 1 changed\n"
        'CHANGELOG.md, 0.2.0, section "Scores": name `bleu`, and say for which input its scores '
        "change, and why\n"
        f'CHANGELOG.md, 0.2.0, section "Scores": quote the digest of the table: `{digest}`\n'
    )
    entry = f"- `bleu` of text with spaces. Digest: `{digest}`"
    assert snapshots.list_unannounced(NEXT.format(entry), digest, [row]) == []
    # Entries of another section or release do not count.
    for changelog in (
        NEXT.format(f"### Added\n\n{entry}"),
        NEXT.format("") + f"\n### Scores\n\n{entry}\n",
    ):
        assert len(snapshots.list_unannounced(changelog, digest, [row])) == 2


def test_removed_score_needs_changelog_entry_until_next_release(accept):
    kept = OLD._replace(entry="ter")
    accept("## [0.1.0] - unreleased\n", OLD, kept)
    for _ in range(2):
        output, rows = accept(NEXT.format(""), kept)
        assert "name `bleu`" in output
        assert rows == [Row("bleu", "de-en", "removed", "", "", "0.2.0", ""), kept]
    output, rows = accept("## [0.3.0] - unreleased\n\n" + NEXT.format(""), kept)
    assert ("bleu" in output, rows) == (False, [kept])


def test_scores_before_first_release_are_no_changes(accept):
    accept("## [0.1.0] - unreleased\n", OLD)
    output, rows = accept("## [0.1.0] - unreleased\n", OLD._replace(score="26.0"))
    assert ("`bleu`" in output, rows) == (False, [OLD._replace(score="26.0")])


def test_accept_refuses_released_changelog_and_other_library(accept, monkeypatch):
    with pytest.raises(SystemExit, match=r"0\.1\.0 is released.*Start the section"):
        accept("## [0.1.0] - 2027-01-01\n", OLD)
    accept("## [0.1.0] - unreleased\n", OLD)
    monkeypatch.setattr(snapshots, "fingerprint_library", lambda: "another")
    with pytest.raises(SystemExit, match="mathematical library differs"):
        accept("## [0.1.0] - unreleased\n", OLD)
