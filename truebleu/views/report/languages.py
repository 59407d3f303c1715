"""The languages of source and systems, as the endings of files' names have them."""

from __future__ import annotations

import os

from truebleu.text.files import DECOMPRESSORS
from truebleu.text.segments import file_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# ISO 639-1.
CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv "
    "cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr "
    "ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw "
    "ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv "
    "ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr "
    "ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi "
    "yo za zh zu"
)


def languages(source: Any, systems: Sequence[Any]) -> tuple[str | None, str | None]:
    """The languages of source and systems, as far as all names of files end in one's code.

    >>> from truebleu.text.files import File
    >>> languages(File("source.de"), [File("a.en"), File("b.en.gz")])
    ('de', 'en')
    """
    targets = {_language(system) for system in systems}
    return _language(source), targets.pop() if len(targets) == 1 else None


def _language(value: Any) -> str | None:
    name = file_name(value) or ""
    stem, ending = os.path.splitext(name)
    if ending in DECOMPRESSORS:
        ending = os.path.splitext(stem)[1]
    code = ending[1:].lower()
    return code if code in CODES.split() else None
