"""Test sets: the same files, fields and parts as sacreBLEU makes of the same archives."""

import hashlib
import os
import random
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import sacrebleu.dataset as originals
from forked import DROP_IN, Command, Done
from packed import Archives, plain, sentences, sgml, xml
from test_command import commands, plain_environment  # noqa: F401

from truebleu.compat.sacrebleu import dataset
from truebleu.compat.sacrebleu._messages import TestSetError


def put(folder: Path, test_set: str, files: dict[str, str]) -> None:
    """Files of a test set as if they had been downloaded."""
    raw = folder / test_set / "raw"
    for name, content in files.items():
        path = raw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    about = originals.DATASETS[test_set]
    for address in about.data:
        name = f"{test_set.replace('/', '_')}.{address.rpartition('/')[2]}"
        (raw / name).write_bytes(b"there")


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """A $SACREBLEU with a test set of each kind, as it is after downloading."""
    folder = tmp_path_factory.mktemp("raw")
    dice = random.Random(2017)

    def of(test_set: str, langpair: str) -> list[str]:
        return originals.DATASETS[test_set].langpairs[langpair]

    def sgml_set(test_set: str, langpair: str) -> None:
        files = of(test_set, langpair)
        put(folder, test_set, {name: sgml(dice, sentences(dice, 20)) for name in files})

    for test_set in ("wmt17", "wmt18", "wmt19", "wmt08", "wmt20/tworefs"):
        sgml_set(test_set, "de-en")
    sgml_set("wmt17", "en-de")
    sgml_set("iwslt17", "en-fr")
    source, reference = of("wmt19/google/ar", "en-de")
    put(
        folder,
        "wmt19/google/ar",
        {source: sgml(dice, sentences(dice, 20)), reference: plain(dice, 20)},
    )
    put(folder, "mtedx/test", {name: plain(dice, 10) for name in of("mtedx/test", "es-en")})
    rows = zip([*sentences(dice, 9), ""], [*sentences(dice, 9), ""], strict=True)
    table = "".join(f"{number}\t{one}\t{two}\t\n" for number, (one, two) in enumerate(rows))
    put(folder, "mtnt1.1/test", {of("mtnt1.1/test", "en-fr")[0].split(":")[1]: table})
    for test_set in ("wmt21", "wmt21/AB", "wmt21/B"):
        content = xml(random.Random(21), 5, ["A", "B"])
        put(folder, test_set, {of(test_set, "en-ru")[0]: content})
    put(
        folder,
        "wmt22",
        {
            of("wmt22", "de-en")[0]: xml(dice, 5, ["A", "B"], ("X", "Online-A")),
            of("wmt22", "cs-en")["path"]: xml(dice, 4, ["B", "C"]),
            of("wmt22", "liv-en")["path"]: xml(dice, 4, [None]),
        },
    )
    domains = ("news", "skipped", "social", "speech news")
    put(folder, "wmt23", {of("wmt23", "de-en")[0]: xml(dice, 5, ["refA"], ("Y",), domains)})
    return folder


def ordered_seed() -> str:
    """A seed of Python's hashes with which a set of A and B is in this order.

    sacreBLEU takes the order of references from a set.
    """
    for seed in map(str, range(1, 100)):
        script = "print(list({'A', 'B'}), list({'B', 'C'}))"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        if done.stdout == "['A', 'B'] ['B', 'C']\n":
            return seed
    raise AssertionError("no seed")


@pytest.fixture(scope="module")
def folders(cache, tmp_path_factory) -> tuple[Path, Path]:
    """The same cache for the original and for the drop-in."""
    folders = tmp_path_factory.mktemp("original") / "S", tmp_path_factory.mktemp("drop-in") / "S"
    for folder in folders:
        shutil.copytree(cache, folder)
    return folders


@pytest.fixture(scope="module")
def original(plain_environment, folders):  # noqa: F811
    command = Command(SACREBLEU=str(folders[0]), PYTHONHASHSEED=ordered_seed())
    yield command
    command.close()


@pytest.fixture(scope="module")
def drop_in(plain_environment, folders):  # noqa: F811
    command = Command(DROP_IN, SACREBLEU=str(folders[1]))
    yield command
    command.close()


@pytest.fixture
def both(original, drop_in, folders, tmp_path):
    """Runs both commands, and gives what they left."""
    for count in (4, 10, 15, 20, 40):
        texts = sentences(random.Random(count), count)
        (tmp_path / str(count)).write_text("".join(f"{text}\n" for text in texts))

    def run(line: str) -> tuple[Done, Done]:
        words = shlex.split(line)
        wanted = original(*words, cwd=tmp_path)
        got = drop_in(*words, cwd=tmp_path)
        names = [os.fsencode(folder) for folder in folders]
        return wanted, Done(got.status, *(text.replace(names[1], names[0]) for text in got[1:]))

    return run


COMMANDS = """
-t wmt17 -l en-de --echo ref
-t wmt17 -l en-de --echo all
-t wmt17 -l en-de --echo all src
-t wmt17 -l en-de --echo nonsense
-t wmt17 -l en-de --echo src origlang --origlang non-en
-t wmt19 -l de-en --echo src docid --subset politics
-t wmt19 -l de-en --echo src docid --subset country:OTHER
-t wmt08 -l de-en --echo all
-t wmt20/tworefs -l de-en --echo ref
-t iwslt17 -l en-fr --echo all
-t wmt19/google/ar -l en-de --echo all
-t mtedx/test -l es-en --echo all
-t mtnt1.1/test -l en-fr --echo all
-t wmt21/AB -l en-ru --echo src ref:A ref:B
-t wmt22 -l de-en --echo all
-t wmt22 -l cs-en --echo all
-t wmt22 -l liv-en --echo ref
-t wmt23 -l de-en --echo src --origlang en --subset social
-t wmt17,wmt18 -l de-en --echo docid
--list -t wmt22 -l de-en
--download wmt22 -l de-en
-t wmt17 -l en-de -i 20 -f text -m bleu chrf
-t wmt17 -l en-de -i 20 40
-t wmt17 -l en-de -i 20 -tok none -f text
-t wmt17 -l en-de -i 20 --origlang xx -f text
-t wmt17 -l en-de -i 20 -d -m bleu chrf -w 3
-t wmt19 -l de-en -i 20 --detail --subset politics
-t wmt19 -l de-en -i 20 --subset nothing --origlang en
-t wmt17,wmt18 -l de-en -i 40 --origlang fi -f text
-t wmt17 -l de-en -i 10
-t wmt20/tworefs -l de-en -i 20
-t mtedx/test -l es-en -i 10 -f text -d
-t wmt22 -l cs-en -i 10 -f text
-t wmt23 -l de-en -i 15 -d
-t wmt17 -l en-de -i 20 -sl -b --origlang de
THOROUGH
-t wmt17 -l en-de --echo src
-t wmt17 -l en-de --echo src ref docid genre origlang
-t wmt17 -l en-de --echo ref --origlang en
-t wmt18 -l de-en --echo docid --subset 'US-.*'
-t wmt18 -l de-en --echo docid --subset world
-t wmt08 -l de-en --echo docid
-t wmt20/tworefs -l de-en --echo ref:1 ref:0
-t wmt20/tworefs -l de-en --echo ref:7
-t mtedx/test -l es-en --echo docid
-t wmt21 -l en-ru --echo all
-t wmt21 -l en-ru --echo ref
-t wmt21 -l en-ru --echo src --origlang uk
-t wmt21 -l en-ru --echo nonsense
-t wmt22 -l de-en --echo X docid
-t wmt22 -l liv-en --echo all
-t wmt23 -l de-en --echo all
-t wmt23 -l de-en --echo src domain --subset news
--list -t wmt17 -l en-de
--list -t wmt22 -l cs-en
--list -t wmt22 -l liv-en
--list -t wmt23 -l de-en
--list -t wmt21/AB -l en-ru
--download wmt17 -l de-en
--download mtedx/test -l es-en
-t wmt17 -l en-de -i 20
-t wmt17 -l en-de -i 20 -tok none -q
-t wmt17 -l en-de -i 20 --origlang en -f text
-t wmt17 -l en-de -i 20 --origlang non-en -f text
-t wmt17 -l en-de -i 20 --origlang xx -f text -q
-t wmt17 -l en-de -i 20 --detail
-t wmt19 -l de-en -i 20 --detail
-t wmt19 -l de-en -i 20 --subset politics -f text
-t wmt19 -l de-en -i 20 --subset nothing
-t wmt18 -l de-en -i 20 --subset country:US --origlang en -b
-t wmt17,wmt18 -l de-en -i 40 -f text
-t wmt17 -l de-en -i 10 -q
-t iwslt17 -l en-fr -i 20 -m chrf
-t iwslt17 -l en-fr -i 20 -d
-t wmt19/google/ar -l en-de -i 20 -f text
-t mtnt1.1/test -l en-fr -i 10 -f text
-t wmt21 -l en-ru -i 10 -f text
-t wmt21/AB -l en-ru -i 10 -f text
-t wmt21 -l en-ru -i 15 --origlang en
-t wmt22 -l de-en -i 15 -f text
-t wmt22 -l liv-en -i 10 -f text
-t wmt22 -l de-en -i 15 -d
-t wmt23 -l de-en -i 15 --subset 'news|social' -b
"""


@pytest.mark.parametrize("line", commands(COMMANDS))
def test_the_command_says_the_same_of_test_sets(both, line):
    wanted, got = both(line)
    assert str(got) == str(wanted)


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder but what locks them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def test_the_files_are_the_same(both, folders):
    for line in COMMANDS.split("\n"):
        if "--download" in line:
            both(line)
    assert tree(folders[1] / "wmt17") == tree(folders[0] / "wmt17")
    assert tree(folders[1] / "wmt22") == tree(folders[0] / "wmt22")
    assert tree(folders[1] / "mtedx") == tree(folders[0] / "mtedx")


# Causes of a traceback in the original, and the message here.
CRASHES = {
    "--cite -t wmt17": None,
    "--cite -t wmt17,wmt24": None,
    "--cite -t nope": "Unknown test set 'nope'",
    "--download nope": "No such test set nope",
    "--download wmt17 -l xx-yy": "No such language pair wmt17/xx-yy",
    "--list -t nope -l en-de": "Unknown test set 'nope'",
    "--list -t wmt17 -l xx-yy": "No such language pair wmt17/xx-yy",
    "--list -l ende": "A language pair has a hyphen, as in en-de; 'ende' has none.",
    "10 -i 10 -l ende": "A language pair has a hyphen, as in en-de; 'ende' has none.",
    "10 -i 10 --origlang en": "Filtering for --origlang or --subset needs a test (-t)",
    "10 -i 10 --subset x": "Filtering for --origlang or --subset needs a test (-t)",
    "-t wmt17 -l de-en -i 20 --subset x": "No subset annotation available for test set wmt17",
    "-t wmt19 -l de-en -i 20 --subset '('": "--subset '(' is not a regular expression: ",
    "-t iwslt17 -l en-fr -i 20 --origlang en": "--origlang and --subset supports only WMT",
    "-t mtnt1.1/test -l en-fr -i 10 --origlang en": "--origlang and --subset supports only WMT",
    "-t wmt17,wmt18 -l de-en -i 40 -f text -d": "No subset annotation available",
    "-t wmt17,wmt20/tworefs -l de-en -i 40": "wmt17,wmt20/tworefs: 1 references in the first",
}


@pytest.mark.parametrize("line", CRASHES)
def test_where_the_original_crashes_one_line_says_why(both, line):
    wanted, got = both(line)
    assert wanted.status == 1
    assert b"Traceback" in wanted.error
    assert b"Traceback" not in got.error
    assert got.output.startswith(wanted.output)
    if CRASHES[line] is not None:
        assert got.status == 1
        assert got.error.decode().splitlines()[0].startswith(f"sacreBLEU: {CRASHES[line]}")


def test_citations_are_printed(both):
    _, got = both("--cite -t wmt17,wmt24,mtedx/test")
    assert got.status == 0
    titles = [originals.DATASETS[name].citation for name in ("wmt17", "mtedx/test")]
    assert got.output.decode() == "".join(f"{title}\n" for title in titles)
    assert got.error == b"sacreBLEU: No citation found for wmt24\n"


def test_origlang_works_where_a_language_pair_names_its_references(both):
    """The original takes the file's name out of a list that is a dictionary there."""
    wanted, got = both("-t wmt22 -l cs-en --echo src --origlang uk")
    assert b"KeyError" in wanted.error
    assert (got.status, got.error, got.output.count(b"\n")) == (0, b"", 3)


def test_detail_takes_origlang_whole(both):
    """The original looks for each letter of it."""
    wanted, got = both("-t wmt17 -l de-en -i 20 --origlang en --detail")
    assert b"ValueError" in wanted.error
    assert got.status == 0
    assert got.output.startswith(wanted.output)
    line = got.output.decode().splitlines()[-1]
    assert line.startswith("origlang=en domain=ALL : sentences=12     BLEU = ")


def test_a_whole_test_set_can_be_downloaded(folders, tmp_path):
    """The original needs a language pair where it should take all."""
    folder = tmp_path / "S"
    shutil.copytree(folders[1] / "wmt20", folder / "wmt20")
    for path in list((folder / "wmt20/tworefs").glob("*.*.*")):
        path.unlink()
    script = (
        "from truebleu.compat.sacrebleu import DATASETS, download_test_set\n"
        "pairs = DATASETS['wmt20/tworefs'].langpairs\n"
        "for name in set(pairs) - {'de-en'}: del pairs[name]\n"
        "print(*download_test_set('wmt20/tworefs'), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"SACREBLEU": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(Path(line).read_text() for line in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) == 6


@pytest.fixture
def archives(tmp_path):
    (tmp_path / "served").mkdir()
    archives = Archives(tmp_path / "served")
    yield archives
    archives.server.shutdown()
    archives.server.server_close()


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """Where the original and the drop-in keep test sets."""
    homes = tmp_path / "original", tmp_path / "drop-in"
    monkeypatch.setattr("sacrebleu.dataset.base.SACREBLEU_DIR", str(homes[0]))
    monkeypatch.setattr(f"{dataset.__name__}.base.SACREBLEU_DIR", str(homes[1]))
    return homes


# The original does not close its files, nor say how archives are to be unpacked.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_kind_of_test_set_is_made_of_its_archives(archives, homes):
    dice = random.Random(5)
    kinds = {
        "FakeSGMLDataset": (
            ["set.tgz"],
            {
                "a/s.sgm": sgml(dice, sentences(dice, 9)),
                "a/r.sgm": sgml(dice, sentences(dice, 9)),
                "b.sgm": sgml(dice, sentences(dice, 9)),
            },
        ),
        "IWSLTXMLDataset": (
            ["set.tar.gz"],
            {"s.xml": sgml(dice, sentences(dice, 9)), "r.xml": sgml(dice, sentences(dice, 9))},
        ),
        "WMTAdditionDataset": (
            ["set.zip"],
            {"s.sgm": sgml(dice, sentences(dice, 9)), "r.txt": plain(dice, 9)},
        ),
        "PlainTextDataset": (["set.zip"], {"s": plain(dice, 9), "r": plain(dice, 9)}),
        "TSVDataset": (["set.tgz"], {"t.tsv": "a\tb\tc\n\tx\t\n"}),
        "WMTXMLDataset": (["set.tgz"], {"deep/all.xml": xml(dice, 4, ["A"], ("X",))}),
    }
    for kind, (names, files) in kinds.items():
        address, md5 = archives.make(f"{kind}.{names[0]}", files)
        extra, extra_md5 = archives.make(f"{kind}.txt", {"more": "not packed\n"})
        langpairs = {"en-de": ["2:t.tsv", "t.tsv"] if kind == "TSVDataset" else list(files)}
        made = []
        for module in (originals, dataset):
            each = getattr(module, kind)(
                f"mine/{kind}",
                data=[address, extra],
                md5=[md5, extra_md5],
                description="mine",
                langpairs=langpairs,
                refs=["A"],
            )
            made.append(
                (
                    [Path(path).name for path in each.get_files("en-de")],
                    [Path(path).name for path in each.get_reference_files("en-de")],
                    Path(each.get_source_file("en-de")).name,
                    each.fieldnames("en-de"),
                    list(each.source("en-de")),
                    list(each.references("en-de")),
                    list(each.__iter__("en-de")),
                )
            )
        assert made[1] == made[0]
    assert tree(homes[1]) == tree(homes[0])
    before = archives.requests
    assert each.get_files("en-de")
    assert archives.requests == before


def download(archives, name: str, content: dict[str, str], md5: str | None = None, **more):
    address, right = archives.make(name, content)
    return dataset.PlainTextDataset(
        "mine", data=[address], md5=[md5 or right], langpairs={"en-de": ["s", "r"]}, **more
    )


def test_a_wrong_sum_leaves_nothing_behind(archives, homes, caplog):
    mine = download(archives, "x.tgz", {"s": "a\n", "r": "b\n"}, md5="0" * 32)
    with pytest.raises(SystemExit) as ended:
        mine.get_files("en-de")
    assert ended.value.code == 1
    assert "MD5 sum of downloaded file was incorrect" in caplog.text
    assert not tree(homes[1])


def test_an_archive_that_cannot_be_unpacked_leaves_nothing_behind(archives, homes):
    mine = download(archives, "x.tgz.txt", {"s": "no archive"})
    mine.data = [f"{mine.data[0].rpartition('/')[0]}/x.tgz"]
    (archives.folder / "x.tgz.txt").rename(archives.folder / "x.tgz")
    with pytest.raises(Exception, match="cannot be unpacked"):
        mine.get_files("en-de")
    assert not tree(homes[1])


def test_what_is_not_there_is_said_with_its_address(archives, homes):
    mine = download(archives, "x.tgz", {"s": "a\n", "r": "b\n"})
    mine.data = [f"{mine.data[0]}.gone"]
    with pytest.raises(Exception, match=r"x\.tgz\.gone cannot be downloaded: HTTP Error 404"):
        mine.get_files("en-de")
    assert not tree(homes[1])


def test_a_download_that_breaks_off_leaves_nothing_behind(archives, homes):
    mine = download(archives, "x.tgz", {"s": "a\n", "r": "b\n"})

    def half(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"half")

    archives.server.RequestHandlerClass.do_GET = half
    with pytest.raises(TestSetError, match=r"x\.tgz cannot be downloaded: 996 bytes"):
        mine.get_files("en-de")
    assert not tree(homes[1])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("<dataset><doc/>", "is not XML"),
        ("<d><src lang='en'/><src lang='de'/><ref lang='cs'/></d>", "Multiple source languages"),
        ("<d><src lang='en'/></d>", "Found 0 reference languages"),
        (
            "<d><doc id='1'><src><seg id='1'/></src><ref><seg id='1'>x</seg></ref></doc></d>",
            "an element has no attribute 'origlang'",
        ),
    ],
)
def test_what_is_wrong_with_xml_is_said(tmp_path, broken, message):
    path = tmp_path / "x.xml"
    path.write_text(broken)
    with pytest.raises(TestSetError, match=message):
        dataset.WMTXMLDataset("mine").fields(str(path))


def test_segments_without_text_and_systems_without_segments_are_empty(tmp_path):
    """The original crashes."""
    path = tmp_path / "x.xml"
    path.write_text(
        "<d><doc id='1' origlang='en'><src lang='en'><seg id='1'/><seg id='2'>s</seg></src>"
        "<ref lang='de'><seg id='1'>r1</seg><seg id='2'>r2</seg></ref>"
        "<hyp system='X'><seg id='2'>x</seg></hyp></doc></d>"
    )
    fields = dataset.WMTXMLDataset("mine").fields(str(path))
    assert (fields["src"], fields["ref"], fields["X"]) == (["", "s"], ["r1", "r2"], ["", "x"])


def test_a_table_without_a_column_is_an_error(archives, homes):
    address, md5 = archives.make("x.tgz", {"t.tsv": "a\tb\na\n"})
    mine = dataset.TSVDataset("mine", data=[address], md5=[md5], langpairs={"en-de": ["t.tsv"] * 2})
    with pytest.raises(TestSetError, match=r"t\.tsv, line 2: no column 2"):
        mine.get_files("en-de")


def test_archives_cannot_write_outside_of_their_folder(archives, homes):
    mine = download(archives, "x.tgz", {"s": "a\n", "r": "b\n"})
    path = archives.folder / "x.tgz"
    with tarfile.open(path, "w:gz") as tape:
        tape.add(archives.folder / "x" / "s", "../../../outside")
    mine.md5 = [hashlib.md5(path.read_bytes()).hexdigest()]
    with pytest.raises(Exception, match="cannot be unpacked"):
        mine.get_files("en-de")
    assert not list(homes[1].parent.rglob("outside"))


def test_processes_that_download_the_same_do_not_disturb_one_another(archives, homes):
    content = {"s": plain(random.Random(1), 5000), "r": plain(random.Random(2), 5000)}
    address, md5 = archives.make("x.tgz", content)
    script = (
        "import sys\n"
        "from truebleu.compat.sacrebleu.dataset import PlainTextDataset\n"
        f"mine = PlainTextDataset('mine', data=[{address!r}], md5=[{md5!r}],"
        " langpairs={'en-de': ['s', 'r']})\n"
        "print(sum(map(len, mine.source('en-de'))))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env=os.environ | {"SACREBLEU": str(homes[1])},
            stdout=subprocess.PIPE,
        )
        for _ in range(6)
    ]
    assert len({process.communicate()[0] for process in processes}) == 1
    assert not any(process.returncode for process in processes)
    assert {Path(name).name for name in tree(homes[1])} == {
        "mine.en-de.src",
        "mine.en-de.ref",
        "s",
        "r",
        "mine.x.tgz",
    }


def test_the_catalogue_is_dumped_as_the_original_dumps_it():
    outputs = [
        subprocess.run(
            [sys.executable, "-m", f"{package}.dataset", *words],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for words in (["--dump"], [])
        for package in ("sacrebleu", "truebleu.compat.sacrebleu")
    ]
    assert outputs[1] == outputs[0]
    assert outputs[3].split()[2:] == outputs[2].split()[2:]


def test_the_catalogue_is_the_original_s():
    assert list(dataset.DATASETS) == list(originals.DATASETS)
    for name, wanted in originals.DATASETS.items():
        got = dataset.DATASETS[name]
        assert type(got).__name__ == type(wanted).__name__
        keys = ("name", "data", "description", "citation", "md5", "langpairs", "kwargs")
        for key in keys:
            assert getattr(got, key) == getattr(wanted, key), (name, key)
    assert dataset.SUBSETS == originals.SUBSETS
    assert dataset.COUNTRIES == originals.COUNTRIES
    assert dataset.DOMAINS == originals.DOMAINS
