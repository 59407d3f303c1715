"""Registries of the user, and messages about invalid ones."""

import json
import os

import pytest
from local_registry import REF, SECOND_REF, SRC, join_lines, make_xml_entry, write_registry

import truebleu as tb
from truebleu.testsets import catalogue


def test_user_registry_defines_set(tmp_path):
    for name, lines in (("s.txt", SRC), ("a.txt", REF), ("b.txt", SECOND_REF), ("d", list("aabb"))):
        (tmp_path / name).write_text(join_lines(lines))
    entry = {
        "name": "mine",
        "citation": "me",
        "files": {"de-en": {"src": "s.txt", "ref:A": "a.txt", "ref:B": "b.txt", "docid": "d"}},
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(entry))
    user_set = tb.testset("mine", "de-en", registry=str(path))
    assert (user_set.source, user_set.references) == (SRC, {"A": REF, "B": SECOND_REF})
    assert user_set.preferred == ("A", "B")
    assert user_set.where(documents=["b"]).source == SRC[2:]
    assert user_set.path("ref:A") == str(tmp_path / "a.txt")
    assert user_set.citation == "me"
    (tmp_path / "a.txt").write_text(join_lines(REF[:3]))
    with pytest.raises(tb.InputError, match="different numbers of lines: src has 4, ref:A has 3"):
        tb.testset("mine", "de-en", registry=str(path))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(tb.InputError, match=r"mine: .*a\.txt: No such file"):
        tb.testset("mine", "de-en", registry=str(path))


def test_registries_in_user_folder_are_loaded(archives, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config/truebleu/testsets"
    folder.mkdir(parents=True)
    os.rename(write_registry(tmp_path, made=make_xml_entry(archives)), folder / "any.json")
    assert tb.testset("made", "de-en").source == SRC
    second_registry = write_registry(tmp_path, made=make_xml_entry(archives))
    with pytest.raises(tb.InputError, match=r"made already exists in .*any\.json\. Rename it"):
        tb.testset("made", "de-en", registry=second_registry)
    second_registry = write_registry(tmp_path, wmt22=make_xml_entry(archives))
    with pytest.raises(tb.InputError, match="wmt22 already exists in truebleu's catalogue"):
        tb.testset("wmt22", "en-de", registry=second_registry)
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
    ("{}", "test_sets: expected an object of test sets"),
    ({"x": 1}, "line 3: test_sets → x: expected an object"),
    ({"x": FINE | {"kind": "XML"}}, "line 4: test_sets → x → kind: expected one of FakeSGML"),
    ({"x": FINE | {"licens": "-"}}, "x → licens: expected one of kind, files"),
    ({"x": FINE | {"citation": 1}}, "x → citation: expected a string"),
    ({"x": FINE | {"data": [["ftp://x"]]}}, "data: expected item 1 to contain only URLs .*https"),
    ({"x": FINE | {"data": [["https://x", "0"]]}}, "data: expected the md5 of item 1 to be 32 low"),
    ({"x": FINE | {"data": [{"address": "https://x", "sum": ""}]}}, "object with address, md5"),
    ({"x": FINE | {"langpairs": {"ab": ["c"]}}}, "langpairs → ab: expected a language pair"),
    ({"x": FINE | {"langpairs": {"a-b": "c"}}}, "langpairs → a-b: expected a list of files"),
    ({"x": FINE | {"languages": {"a": "c"}}}, "x: expected either langpairs or languages"),
    ({"x": {"files": {"a-b": {"src": "c"}}}}, "files → a-b: expected a field ref"),
    ({"x": {"files": {"a-b": {"ref": 1}}}}, "files → a-b → ref: expected the path of a file"),
    ({"x": {"files": {}, "kind": "TSV"}}, "x → kind: expected either this key or files"),
]


@pytest.mark.parametrize(("content", "message"), WRONG)
def test_registry_error_names_location(tmp_path, content, message):
    path = tmp_path / "r.json"
    is_text = isinstance(content, str)
    path.write_text(content if is_text else json.dumps({"test_sets": content}, indent=1))
    with pytest.raises(tb.InputError, match=message) as error:
        catalogue.load_entries(str(path))
    assert str(error.value).startswith(f"{path}")
    assert "\n" not in str(error.value)


def test_published_catalogue_passes_registry_checks():
    registry = catalogue.load_builtin_registry()
    check = catalogue._RegistryCheck("registry.json", "")
    for name, description in (registry["test_sets"] | registry["more"]).items():
        if "instructions" not in description:
            check.check_entry(name, description, (name,))
    pair_counts = [len(each["langpairs"]) for each in registry["test_sets"].values()]
    assert (len(pair_counts), sum(pair_counts)) == (67, 452)
