"""Registries of one's own, and what is said of those that are wrong."""

import json
import os

import pytest
from local_registry import OTHER, REF, SRC, about_xml, registry, text

import truebleu as tb
from truebleu.testsets import catalogue


def test_a_set_of_one_s_own(tmp_path):
    for name, lines in (("s.txt", SRC), ("a.txt", REF), ("b.txt", OTHER), ("d", list("aabb"))):
        (tmp_path / name).write_text(text(lines))
    about = {
        "name": "mine",
        "citation": "me",
        "files": {"de-en": {"src": "s.txt", "ref:A": "a.txt", "ref:B": "b.txt", "docid": "d"}},
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(about))
    mine = tb.testset("mine", "de-en", registry=str(path))
    assert (mine.source, mine.references) == (SRC, {"A": REF, "B": OTHER})
    assert mine.preferred == ("A", "B")
    assert mine.where(documents=["b"]).source == SRC[2:]
    assert mine.path("ref:A") == str(tmp_path / "a.txt")
    assert mine.citation == "me"
    (tmp_path / "a.txt").write_text(text(REF[:3]))
    with pytest.raises(tb.InputError, match="different numbers of lines: src has 4, ref:A has 3"):
        tb.testset("mine", "de-en", registry=str(path))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(tb.InputError, match=r"mine: .*a\.txt: No such file"):
        tb.testset("mine", "de-en", registry=str(path))


def test_registries_in_the_user_s_folder(archives, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config/truebleu/testsets"
    folder.mkdir(parents=True)
    os.rename(registry(tmp_path, made=about_xml(archives)), folder / "any.json")
    assert tb.testset("made", "de-en").source == SRC
    other = registry(tmp_path, made=about_xml(archives))
    with pytest.raises(tb.InputError, match=r"made is a test set of .*any\.json; give it another"):
        tb.testset("made", "de-en", registry=other)
    other = registry(tmp_path, wmt22=about_xml(archives))
    with pytest.raises(tb.InputError, match="wmt22 is a test set of truebleu's own catalogue"):
        tb.testset("wmt22", "en-de", registry=other)
    with pytest.raises(tb.InputError, match=r"none\.json cannot be read: No such file"):
        catalogue.load_entries(str(tmp_path / "none.json"))


FINE = {
    "kind": "PlainText",
    "data": [["https://x/y.tgz", "0" * 32]],
    "langpairs": {"a-b": ["c", "d"]},
}
WRONG = [
    ("[", r"line 1, column 2: not JSON"),
    ("[]", "line 1: expected an object"),
    ({}, "test_sets: expected an object of test sets"),
    ({"x": 1}, "line 3: test_sets → x: expected an object"),
    ({"x": FINE | {"kind": "XML"}}, "line 4: test_sets → x → kind: expected one of FakeSGML"),
    ({"x": FINE | {"licens": "-"}}, "x → licens: expected one of kind, files"),
    ({"x": FINE | {"citation": 1}}, "x → citation: expected a string"),
    ({"x": FINE | {"data": [["ftp://x"]]}}, "x → data: expected number 1 of data to be .*https"),
    ({"x": FINE | {"data": [["https://x/y", "0"]]}}, "x → data: .* a md5 of 32 digits"),
    (
        {"x": FINE | {"data": [{"address": "https://x/y", "sum": ""}]}},
        "an object with address, md5",
    ),
    ({"x": FINE | {"langpairs": {"ab": ["c"]}}}, "langpairs → ab: expected a language pair"),
    ({"x": FINE | {"langpairs": {"a-b": "c"}}}, "langpairs → a-b: expected a list of files"),
    ({"x": FINE | {"languages": {"a": "c"}}}, "x: expected langpairs or languages"),
    ({"x": {"files": {"a-b": {"src": "c"}}}}, "files → a-b: expected a field ref"),
    ({"x": {"files": {"a-b": {"ref": 1}}}}, "files → a-b → ref: expected the path of a file"),
    ({"x": {"files": {}, "kind": "TSV"}}, "x → kind: expected files alone"),
]


@pytest.mark.parametrize(("content", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path, content, message):
    path = tmp_path / "r.json"
    whole = content if isinstance(content, str) else json.dumps({"test_sets": content}, indent=1)
    if content == {}:
        whole = "{}"
    path.write_text(whole)
    with pytest.raises(tb.InputError, match=message) as found:
        catalogue.load_entries(str(path))
    assert str(found.value).startswith(f"{path}")
    assert "\n" not in str(found.value)


def test_the_catalogue_would_pass_its_own_checks():
    both = {
        **catalogue.load_builtin_registry()["test_sets"],
        **catalogue.load_builtin_registry()["more"],
    }
    check = catalogue._RegistryCheck("registry.json", "")
    for name, about in both.items():
        if "instructions" not in about:
            check.check_entry(name, about, (name,))
    assert len(catalogue.load_builtin_registry()["test_sets"]) == 67
    assert (
        sum(
            len(each["langpairs"])
            for each in catalogue.load_builtin_registry()["test_sets"].values()
        )
        == 452
    )
