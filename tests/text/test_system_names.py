"""Names of systems: independent of the other systems, unless two files have the same name."""

import pytest

from truebleu.text.segments import File
from truebleu.text.system_names import name_systems


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
