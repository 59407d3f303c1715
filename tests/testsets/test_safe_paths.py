"""Names that become paths: unsafe names are refused, and files outside the cache stay unchanged."""

import os

import pytest
from local_registry import make_xml_entry, write_registry

import truebleu as tb
from truebleu.meta_evaluation.human_scores import Tree
from truebleu.testsets import cache, catalogue
from truebleu.testsets import testset_operations as operations
from truebleu.text.operating_system import join_contained_path

UNSAFE = [
    *("", ".", "..", "../../x-en", "x-en/../..", "/etc/passwd", "//host/x-en", "x//en"),
    *("C:x-en", "C:\\x-en", "..\\x-en", "\\\\host\\x-en", ".. ", "x-en\0", "x-en\n", "\ud800-en"),
    *("nul", "CON.txt", "a/com1", "lpt9 .x-en"),
]


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_name_is_refused(tmp_path, monkeypatch, name):
    plain = {"kind": "PlainText", "data": [["https://x.example/made.tgz", "0" * 32]]}
    entry = {**plain, "langpairs": {"de-en": ["x", "y"]}}
    in_registry = [
        {name: entry},
        {"made": {"files": {name: {"ref": "ref.txt"}}}},
        {"made": {**entry, "langpairs": {name: ["made/all.xml"]}}},
        {"made": {**entry, "langpairs": {"de-en": {"path": name}}}},
        {"made": {**plain, "langpairs": {"de-en": ["x", f"3:{name}"]}}},
        {"made": {**plain, "langpairs": {"de-en": [f"../{name}:x", "x"]}}},
        {"made": {**plain, "languages": {"de": ["x"], "en": name}}},
        {"made": {**plain, "languages": {"de": ["x"], f"{name}/": ["x"]}}},
        {"made": {**plain, "languages": {"de": ["x"]}, "documents": name}},
        {"made": {**entry, "data": [[f"https://x.example/{name}/.."]]}},
    ]
    for sets in in_registry:
        path = write_registry(tmp_path, **sets)
        with pytest.raises(tb.InputError) as refused:
            catalogue.load_entries(path)
        assert str(refused.value).startswith(f"{path}, line ")
        assert "expected" in str(refused.value)
    os.makedirs(catalogue.get_user_folder())
    os.rename(
        write_registry(tmp_path, made=entry), os.path.join(catalogue.get_user_folder(), "any.json")
    )
    outside = tmp_path / "x-en/01234567"
    outside.mkdir(parents=True)
    (tmp_path / "human-scores").mkdir()
    monkeypatch.chdir(tmp_path)
    given_by_user = [
        lambda: operations.remove_test_set(name),
        lambda: operations.find_folder(name),
        lambda: operations.find_folder("made", name or ".."),
        lambda: list(operations.fetch_test_sets([name])),
        lambda: operations.add_test_set(str(tmp_path), name or ".."),
        lambda: tb.testset(name, "de-en"),
        lambda: tb.testset("made", name),
        lambda: join_contained_path(cache.get_cache_root(), name),
        lambda: Tree(tmp_path, name or ".."),
    ]
    for use in given_by_user:
        with pytest.raises(tb.InputError):
            use()
    assert outside.exists()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("link", ["", "DIGEST", "DIGEST/raw", "DIGEST/de-en"])
def test_link_out_of_cache_is_not_followed(archives, tmp_path, link):
    path = write_registry(tmp_path, made=make_xml_entry(archives))
    outside = tmp_path / "outside"
    (outside / "01234567").mkdir(parents=True)
    digest = catalogue.get_entry("made", path).digest
    place = tmp_path / "cache/testsets/made" / link.replace("DIGEST", digest)
    place.parent.mkdir(parents=True)
    place.symlink_to(outside)
    with pytest.raises(tb.InputError, match="a symbolic link leads out of"):
        tb.testset("made", "de-en", registry=path)
    if not link:
        with pytest.raises(tb.InputError, match="a symbolic link leads out of"):
            operations.remove_test_set("made")
    assert os.listdir(outside) == ["01234567"]


def test_registry_of_another_set_is_kept(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for end in ("src", "ref"):
            (tmp_path / name / f"en-de.{end}").write_text("x\n")
    operations.add_test_set(str(tmp_path / "one"), "a_b")
    with pytest.raises(tb.InputError, match=r"a_b\.json already exists. Use --name"):
        operations.add_test_set(str(tmp_path / "two"), "a/b")
    with pytest.raises(tb.InputError, match="unknown test set 'a/b'"):
        operations.remove_test_set("a/b")
    assert operations.remove_test_set("a_b")["size"]
