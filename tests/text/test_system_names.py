"""Names of systems: independent of the other systems, unless two files have the same name."""

import pytest

from truebleu.text.segments import File
from truebleu.text.system_names import ShortNames, find_system, name_systems, shorten_names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/cedar.en", "cedar"),
        ("newstest.en-de.hyp.Online-B.de", "newstest.en-de.hyp.Online-B"),
        ("sys.de.gz", "sys"),
        ("sys.ZST", "sys"),
        ("output", "output"),
        (".hidden", ".hidden"),
        ("model-1.5", "model-1.5"),
        ("checkpoint.20000.txt", "checkpoint.20000"),
        ("outputs.tsv#3", "outputs#3"),
        ("-", "standard input"),
    ],
)
def test_name_is_file_name_without_last_suffix(path, name):
    column = path.partition("#")[2]
    file = File(path.partition("#")[0], int(column)) if column else path
    assert name_systems([file]) == [name]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["birch.en", "cedar.en"], ["birch", "cedar"]),
        (["run1/out", "run2/out", "cedar.en"], ["run1/out", "run2/out", "cedar"]),
        (["runs/1/a/out", "runs/1/b/out", "runs/1/out"], ["a/out", "b/out", "1/out"]),
        (["new/out.en", "./out.en"], ["new/out", "out"]),
        (["x.en", "x.en.gz"], ["x.en", "x.en.gz"]),
        (["same", "same"], ["same", "same (2)"]),
    ],
)
def test_only_equal_names_get_folders(paths, names):
    assert name_systems(paths) == names


# ---- short names ----

PREFIX = "newstest2022.en-de.hyp."


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"{PREFIX}Online-A", f"{PREFIX}Online-B"], ["Online-A", "Online-B"]),
        (["small.en", "large.en"], ["small.en", "large.en"]),
        ([f"{PREFIX}A", f"{PREFIX}B"], ["hyp.A", "hyp.B"]),
        (["wmt22.en-de.transformer.v1.5", "wmt22.en-de.transformer.v1.6"], ["v1.5", "v1.6"]),
        ([f"{PREFIX}Online-A", "newstest2022.en-de.src"], ["hyp.Online-A", "src"]),
        (["base", f"{PREFIX}Online-A", f"{PREFIX}M2"], ["base", "Online-A", "M2"]),
        ([f"{PREFIX}Online-A"], [f"{PREFIX}Online-A"]),
        (["a-very-long-name-of-a-system", "a-very-long-name-of-a-system.2"], None),
    ],
)
def test_short_names_are_the_shortest_distinct_parts(names, expected):
    assert shorten_names(names) == (expected or names)


def test_sentences_have_short_names():
    short = ShortNames([f"{PREFIX}Online", f"{PREFIX}Online-A", f"{PREFIX}M2"])
    text = f"{PREFIX}Online-A is above {PREFIX}Online; see {PREFIX}Online.de and {PREFIX}M2."
    assert short.shorten(text) == f"Online-A is above Online; see {PREFIX}Online.de and M2."
    assert short.shorten_all({f"{PREFIX}M2": [f"{PREFIX}Online", 1]}) == {"M2": ["Online", 1]}


def test_short_names_are_explained_once():
    names = [f"{PREFIX}Online-A", f"{PREFIX}M2"]
    assert ShortNames(names).note == f"Online-A is short for {PREFIX}Online-A, and so on."
    assert ShortNames(["a", "b"]).note == ""


@pytest.mark.parametrize("name", ["M2", "hyp.M2", f"{PREFIX}M2"])
def test_system_is_found_by_any_distinct_part_of_its_name(name):
    assert find_system(name, [f"{PREFIX}Online-A", f"{PREFIX}M2"], "baseline") == f"{PREFIX}M2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hyp", r"baseline: 'hyp' is ambiguous \(expected one of Online-A, M2\)"),
        ("M3", "baseline: no system 'M3'; available: Online-A, M2"),
    ],
)
def test_ambiguous_or_unknown_system_is_an_error(name, message):
    with pytest.raises(ValueError, match=message):
        find_system(name, [f"{PREFIX}Online-A", f"{PREFIX}M2"], "baseline")
