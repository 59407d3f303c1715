"""Languages by code, with the tokenizers that sacreBLEU uses and those that truebleu recommends.

A tag is an ISO 639-1, 639-2 or 639-3 code, optionally followed by a script or a region as in BCP 47
and FLORES: `ja`, `jpn`, `ja-JP`, `jpn_Jpan`. A pair is two tags: `en-ja`, `eng_Latn-jpn_Jpan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from truebleu.text import argument_checks, tokenizers
from truebleu.text.argument_checks import Record

DEFAULT_TOKENIZER = "13a"


class LanguageKind(Record):
    """Group of languages with the same recommendations."""

    title: str
    tokenizer: str
    """The tokenizer that sacreBLEU uses for the language."""
    recommended: tuple[str, ...]
    """The recommended tokenizers, best first; empty if BLEU is not recommended."""
    also_report: tuple[str, ...]
    """Options that select further tokenizers and metrics to report."""
    reason: str
    languages: Mapping[str, str]
    """The codes and names of the languages, by script."""


LANGUAGE_KINDS = (
    LanguageKind(
        "Chinese",
        "zh",
        ("zh",),
        ("flores200",),
        "WMT since 2017; sacreBLEU with `-l`",
        {
            "han": """zh/zho/cmn Chinese; yue Cantonese; wuu Wu; hak Hakka; gan Gan;
                lzh Classical Chinese"""
        },
    ),
    LanguageKind(
        "Japanese",
        "ja-mecab",
        ("ja-mecab",),
        ("char", "flores200"),
        "sacreBLEU with `-l`",
        {"kana": "ja/jpn Japanese"},
    ),
    LanguageKind(
        "Korean",
        "ko-mecab",
        ("ko-mecab",),
        ("flores200",),
        "the default of `-l`; 13a does not split particles from words",
        {"hangul": "ko/kor Korean"},
    ),
    LanguageKind(
        "no spaces between words",
        DEFAULT_TOKENIZER,
        ("flores200", "char"),
        ("chrf++",),
        "13a does not split clauses into words, and there is no standard definition of a word",
        {
            "thai": "th/tha Thai",
            "khmer": "km/khm Khmer",
            "lao": "lo/lao Lao",
            "burmese": "my/mya Burmese; shn Shan",
        },
    ),
    LanguageKind(
        "a mark between syllables",
        DEFAULT_TOKENIZER,
        ("flores200", "intl"),
        ("chrf++",),
        "13a does not split clauses into words; intl splits at the tsheg",
        {"tibetan": "bo/bod Tibetan; dz/dzo Dzongkha"},
    ),
    LanguageKind(
        "script-specific punctuation",
        DEFAULT_TOKENIZER,
        ("intl",),
        ("chrf++",),
        "13a does not split । ፡ ، ؟ from words; use it to compare with published scores",
        {
            "devanagari": """hi/hin Hindi; mr/mar Marathi; ne/nep/npi Nepali; sa/san Sanskrit;
                mai Maithili; mag Magahi; awa Awadhi; hne Chhattisgarhi; gom Konkani; brx Bodo;
                doi Dogri""",
            "bengali": "bn/ben Bengali; as/asm Assamese",
            "bengali meetei_mayek": "mni Manipuri",
            "gurmukhi arabic": "pa/pan Punjabi",
            "gujarati": "gu/guj Gujarati",
            "odia": "or/ori/ory Odia",
            "ol_chiki": "sat Santali",
            "armenian": "hy/hye Armenian",
            "ethiopic": "am/amh Amharic; ti/tir Tigrinya",
            "arabic": """ar/ara/arb/ars/acm/acq/aeb/ajp/apc/ary/arz Arabic; fa/fas/pes/prs Persian;
                ur/urd Urdu; ps/pus/pbt Pashto; ckb Central Kurdish; ug/uig Uyghur;
                sd/snd Sindhi; azb South Azerbaijani""",
            "arabic devanagari": "ks/kas Kashmiri",
            "hebrew": "he/heb Hebrew; yi/yid/ydd Yiddish",
            "thaana": "dv/div Divehi",
        },
    ),
    LanguageKind(
        "few published scores",
        DEFAULT_TOKENIZER,
        (),
        ("chrf++",),
        "WMT25 ranks systems only by chrF++",
        {"devanagari": "bho Bhojpuri", "latin": "mas Maasai"},
    ),
    LanguageKind(
        "spaces between words",
        DEFAULT_TOKENIZER,
        (DEFAULT_TOKENIZER,),
        (),
        "WMT since 2006; sacreBLEU's default",
        {
            "latin": """aa/aar Afar; ace Acehnese; af/afr Afrikaans; ak/aka Akan;
                an/arg Aragonese; ast Asturian; ay/aym/ayr Aymara; ban Balinese; bem Bemba;
                bi/bis Bislama; bjn Banjar; bm/bam Bambara; br/bre Breton; bs/bos Bosnian;
                bug Buginese; ca/cat Catalan; ceb Cebuano; ch/cha Chamorro; cjk Chokwe;
                co/cos Corsican; cs/ces Czech; cy/cym Welsh; da/dan Danish; de/deu German;
                dik Dinka; dsb Lower Sorbian; dyu Dyula; ee/ewe Ewe; en/eng English;
                eo/epo Esperanto; es/spa Spanish; et/est/ekk Estonian; eu/eus Basque;
                ff/ful/fuv Fulah; fi/fin Finnish; fj/fij Fijian; fil Filipino; fo/fao Faroese;
                fon Fon; fr/fra French; fur Friulian; fy/fry Western Frisian; ga/gle Irish;
                gd/gla Scottish Gaelic; gl/glg Galician; gn/grn Guarani; gsw Swiss German;
                gv/glv Manx; ha/hau Hausa; ho/hmo Hiri Motu; hr/hrv Croatian; hsb Upper Sorbian;
                ht/hat Haitian Creole; hu/hun Hungarian; hz/her Herero; ia/ina Interlingua;
                id/ind Indonesian; ie/ile Interlingue; ig/ibo Igbo; ik/ipk Inupiaq; ilo Ilocano;
                io/ido Ido; is/isl Icelandic; it/ita Italian; jv/jav Javanese; kab Kabyle;
                kac Kachin; kam Kamba; kbp Kabiye; kea Kabuverdianu; kg/kon Kongo; ki/kik Kikuyu;
                kj/kua Kuanyama; kl/kal Kalaallisut; kmb Kimbundu; kr/kau/knc Kanuri;
                kw/cor Cornish; la/lat Latin; lb/ltz Luxembourgish; lg/lug Ganda; li/lim Limburgish;
                lij Ligurian; liv Livonian; lmo Lombard; ln/lin Lingala; lt/lit Lithuanian;
                ltg Latgalian; lu/lub Luba-Katanga; lua Luba-Lulua; luo Luo; lus Mizo;
                lv/lav/lvs Latvian; mg/mlg/plt Malagasy; mh/mah Marshallese; mi/mri Maori;
                min Minangkabau; mos Mossi; ms/msa/zsm Malay; mt/mlt Maltese; na/nau Nauru;
                nan Min Nan; nb/nob Norwegian Bokmål; nd/nde North Ndebele; nds Low German;
                ng/ndo Ndonga; nl/nld Dutch; nn/nno Norwegian Nynorsk; no/nor Norwegian;
                nr/nbl South Ndebele; nso Northern Sotho; nus Nuer; nv/nav Navajo; ny/nya Chichewa;
                oc/oci Occitan; om/orm/gaz Oromo; pag Pangasinan; pap Papiamento; pl/pol Polish;
                pt/por Portuguese; qu/que/quy Quechua; rm/roh Romansh; rn/run Rundi;
                ro/ron Romanian; rw/kin Kinyarwanda; sc/srd Sardinian; scn Sicilian;
                se/sme Northern Sami; sg/sag Sango; sk/slk Slovak; sl/slv Slovenian;
                sm/smo Samoan; sn/sna Shona; so/som Somali; sq/sqi/als Albanian; ss/ssw Swati;
                st/sot Southern Sotho; su/sun Sundanese; sv/swe Swedish; sw/swa/swh Swahili;
                szl Silesian; tl/tgl Tagalog; tn/tsn Tswana; to/ton Tongan; tpi Tok Pisin;
                tr/tur Turkish; ts/tso Tsonga; tum Tumbuka; tw/twi Twi; ty/tah Tahitian;
                umb Umbundu; ve/ven Venda; vec Venetian; vi/vie Vietnamese; vo/vol Volapük;
                wa/wln Walloon; war Waray; wo/wol Wolof; xh/xho Xhosa; yo/yor Yoruba;
                za/zha Zhuang; zu/zul Zulu""",
            "cyrillic": """ab/abk Abkhazian; av/ava Avaric; ba/bak Bashkir; be/bel Belarusian;
                bg/bul Bulgarian; bua Buryat; ce/che Chechen; cv/chv Chuvash; kv/kom Komi;
                ky/kir Kyrgyz; mhr Meadow Mari; mk/mkd Macedonian; myv Erzya; os/oss Ossetian;
                ru/rus Russian; sah Yakut; tg/tgk Tajik; tyv Tuvan; udm Udmurt; uk/ukr Ukrainian""",
            "cyrillic latin": """crh Crimean Tatar; cu/chu Church Slavic; kk/kaz Kazakh;
                sh/hbs Serbo-Croatian; sr/srp Serbian; tt/tat Tatar""",
            "cyrillic mongolian": "mn/mon/khk Mongolian",
            "latin cyrillic": "az/aze/azj Azerbaijani; tk/tuk Turkmen; uz/uzb/uzn Uzbek",
            "latin arabic": "ku/kur/kmr Kurdish",
            "greek": "el/ell Greek",
            "georgian": "ka/kat Georgian",
            "tamil": "ta/tam Tamil",
            "telugu": "te/tel Telugu",
            "kannada": "kn/kan Kannada",
            "malayalam": "ml/mal Malayalam",
            "sinhala": "si/sin Sinhala",
            "sinhala devanagari latin": "pi/pli Pali",
            "canadian_aboriginal latin": "cr/cre Cree; iu/iku Inuktitut; oj/oji Ojibwe",
            "tifinagh latin": "taq Tamasheq; tzm Central Atlas Tamazight; ber Berber",
            "": "ae/ave Avestan; ii/iii Nuosu",
        },
    ),
)

# The bibliographic codes of ISO 639-2 that differ from ISO 639-3, with the codes of ISO 639-3.
_BIBLIOGRAPHIC_CODES = """
    alb sqi arm hye baq eus bur mya chi zho cze ces dut nld fre fra geo kat ger deu gre ell ice isl
    mac mkd mao mri may msa per fas rum ron slo slk tib bod wel cym"""

# The kernel's script names (kernel/src/scripts.rs), keyed by ISO 15924 code.
SCRIPT_NAMES = {
    "Arab": "arabic", "Armn": "armenian", "Bali": "balinese", "Beng": "bengali",
    "Cans": "canadian_aboriginal", "Cham": "cham", "Cyrl": "cyrillic", "Deva": "devanagari",
    "Ethi": "ethiopic", "Geor": "georgian", "Grek": "greek", "Gujr": "gujarati",
    "Guru": "gurmukhi", "Hang": "hangul", "Hani": "han", "Hans": "han", "Hant": "han",
    "Hebr": "hebrew", "Hira": "kana", "Java": "javanese", "Jpan": "kana", "Kana": "kana",
    "Khmr": "khmer", "Knda": "kannada", "Kore": "hangul", "Lana": "tai_tham", "Laoo": "lao",
    "Latn": "latin", "Mlym": "malayalam", "Mong": "mongolian", "Mtei": "meetei_mayek",
    "Mymr": "burmese", "Olck": "ol_chiki", "Orya": "odia", "Sinh": "sinhala",
    "Talu": "new_tai_lue", "Taml": "tamil", "Telu": "telugu", "Tfng": "tifinagh",
    "Thaa": "thaana", "Thai": "thai", "Tibt": "tibetan",
}  # fmt: skip

# The country codes of ISO 3166-1.
_REGIONS = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS
    BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE
    EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM
    HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC
    LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
    NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
    SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO
    TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW"""

# Lower-case tags whose region is also the code of a language (Twi, Breton).
_SMALL_REGIONS = {("zh", "tw"), ("pt", "br")}


class Language(Record):
    """Language with its codes, names, scripts and recommended tokenizers."""

    code: str
    """The ISO 639-1 code if there is one, otherwise the ISO 639-3 code."""
    name: str
    codes: tuple[str, ...]
    kind: LanguageKind
    scripts: tuple[str, ...]
    """The scripts of the language, or only the script of the tag if it has one."""
    script: str = ""
    """The ISO 15924 code of the script in the tag, or "" if the tag has none."""
    region: str = ""

    def __repr__(self) -> str:
        recommended = ", ".join(self.recommended) or "none"
        return (
            f"<{self.name} ({', '.join(self.codes)}): tokenizer {self.tokenizer}, "
            f"recommended {recommended}>"
        )

    @property
    def tokenizer(self) -> str:
        """The tokenizer that sacreBLEU uses, or 13a if the tag has an unrelated script."""
        is_own_script = (
            not self.script or SCRIPT_NAMES[self.script] in _index_languages()[self.code].scripts
        )
        # Japanese and Korean also use Han characters.
        return (
            self.kind.tokenizer if is_own_script or self.scripts == ("han",) else DEFAULT_TOKENIZER
        )

    @property
    def recommended(self) -> tuple[str, ...]:
        """The recommended tokenizers, best first; empty if BLEU is not recommended."""
        return self.kind.recommended

    @property
    def chinese_variant(self) -> str:
        """The variant of Chinese that the tag selects: "traditional", "simplified" or ""."""
        by_region = {"TW": "Hant", "HK": "Hant", "MO": "Hant", "CN": "Hans", "SG": "Hans"}
        script = self.script or by_region.get(self.region, "")
        return {"Hant": "traditional", "Hans": "simplified"}.get(script, "")


@cache
def _index_languages() -> dict[str, Language]:
    by_code: dict[str, Language] = {}
    for kind in LANGUAGE_KINDS:
        for scripts, entries in kind.languages.items():
            for entry in entries.split(";"):
                first, _, name = " ".join(entry.split()).partition(" ")
                entry_codes = tuple(first.split("/"))
                entry_language = Language(
                    entry_codes[0], name, entry_codes, kind, tuple(scripts.split())
                )
                by_code |= dict.fromkeys(entry_codes, entry_language)
    codes = _BIBLIOGRAPHIC_CODES.split()
    pairs = zip(codes[::2], codes[1::2], strict=True)
    return by_code | {code: by_code[other] for code, other in pairs}


def list_codes() -> list[str]:
    """Return the shortest code of each language, sorted."""
    return sorted({one.code for one in _index_languages().values()})


@cache
def _parse_tag(tag: str) -> tuple[Language, ...]:
    """Return the language of a tag, or both languages of a pair.

    A hyphen precedes a language, a script or a region; an underscore precedes a script or a region.
    Two capital letters are a region. Two lower-case letters are a language if their code exists.
    """
    argument_checks.check_string("language", tag, "a code, such as 'ja'")
    # In a tag without lower-case letters, case cannot distinguish regions from languages.
    text = tag.lower() if tag.isupper() else tag
    by_code = _index_languages()
    languages: list[Language] = []
    for part in text.strip().replace("_", "-_").split("-"):
        word = part.removeprefix("_")
        is_suffix = word != part
        lower_word = word.lower()
        last = languages[-1] if languages else None
        pair = (last.code if last else "", lower_word)
        region = word.upper() in _REGIONS.split()
        region = region and (word.isupper() or is_suffix or lower_word not in by_code)
        if last and not last.script and word.title() in SCRIPT_NAMES:
            script = word.title()
            languages[-1] = last.replace(script=script, scripts=(SCRIPT_NAMES[script],))
        elif last and not last.region and (region or pair in _SMALL_REGIONS):
            languages[-1] = last.replace(region=word.upper())
        elif last and not last.region and word.isdecimal() and len(word) == 3:
            languages[-1] = last.replace(region=word)
        elif lower_word in by_code and not is_suffix:
            languages.append(by_code[lower_word])
        else:
            raise ValueError(_describe_unknown_tag(tag, word))
    if len(languages) > 2:
        raise ValueError(f"'{tag:.40}' has {len(languages)} languages (expected SOURCE-TARGET)")
    return tuple(languages)


def _describe_unknown_tag(tag: str, word: str) -> str:
    by_code = _index_languages()
    context = "" if word == tag else f" in '{tag:.40}'"
    by_name = {one.name.lower(): one for one in by_code.values()}
    named_language = by_name.get(word.lower()) or by_name.get(
        argument_checks.find_closest(word, by_name, 0.75)
    )
    half = len(word) // 2
    parts = [by_code.get(part.lower()) for part in (word[:half], word[half:])]
    if word == tag and len(word) in (4, 6) and None not in parts and named_language is None:
        return f"unknown language '{tag}'; did you mean '{word[:half]}-{word[half:]}'?"
    # Codes have two or three letters, and longer words resemble codes only by chance.
    closest_code = argument_checks.find_closest(word, by_code, 0.6) if len(word) < 5 else ""
    suggestion = named_language.code if named_language else closest_code
    hint = f"; did you mean '{suggestion}' ({by_code[suggestion].name})?" if suggestion else ""
    if word.lower() in by_code:
        hint = "; a pair has a hyphen, as in en-ja"
    form = "" if hint else " (expected an ISO 639 code, as in ja, jpn, ja-JP or jpn_Jpan)"
    return f"unknown language '{word:.40}'{context}{hint}{form}"


def language(tag: str) -> Language:
    """Return the language of a tag, with its name, its codes and suitable tokenizers.

    tag: an ISO 639-1, 639-2 or 639-3 code, with or without a script or a region: "ja", "jpn",
        "ja-JP", "jpn_Jpan", "zh_Hant".

    Raises ValueError for a language pair or an unknown tag, and suggests a similar tag.

    >>> import truebleu
    >>> japanese = truebleu.language("jpn_Jpan")
    >>> japanese.name, japanese.tokenizer
    ('Japanese', 'ja-mecab')
    >>> truebleu.BLEU(tokenize=truebleu.language("zh-TW").tokenizer)
    BLEU(tokenize='zh')
    """
    first, *targets = _parse_tag(tag)
    if targets:
        raise ValueError(
            f"'{tag:.40}' is a language pair (expected a language, such as {targets[0].code} for "
            f"{targets[0].name})"
        )
    return first


def get_target_language(tag: str) -> Language:
    """Return the language of a tag, or the target language of a pair.

    >>> get_target_language("en-ja_JP").name, get_target_language("zh-TW").name
    ('Japanese', 'Chinese')
    """
    return _parse_tag(tag)[-1]


def get_pair_codes(tag: str) -> tuple[str | None, str]:
    """Return the codes of a pair's source and target languages; a single tag has no source.

    >>> get_pair_codes("eng_Latn-zho_Hans"), get_pair_codes("zh-TW")
    (('en', 'zh'), (None, 'zh'))
    """
    *sources, target = _parse_tag(tag)
    return sources[0].code if sources else None, target.code


# ---- advice ----


def recommend_tokenizer(language: Language, requested_tokenizer: str | None) -> str:
    """Return a recommendation if another tokenizer is better for a language, otherwise "".

    requested_tokenizer: the tokenizer that the user chose, or None for the language's default.

    >>> recommend_tokenizer(language("ja"), "char")
    'sacreBLEU tokenizes Japanese with ja-mecab; you chose -tok char'
    """
    default = language.tokenizer
    if requested_tokenizer is not None:
        if default in (DEFAULT_TOKENIZER, requested_tokenizer):
            return ""
        requested = f"you chose -tok {requested_tokenizer}"
        return f"sacreBLEU tokenizes {language.name} with {default}; {requested}"
    kind = language.kind
    if default in kind.recommended or default != kind.tokenizer:
        return ""
    if not kind.recommended:
        return (
            f"{language.name}: chrF++ is more informative than BLEU; use -m "
            f"{' '.join(kind.also_report)}"
        )
    option = tokenizers.format_tokenizer_option(kind.recommended)
    return (
        f"{language.name}: use 13a only to compare with published scores; otherwise use {option} "
        f"and -m bleu {' '.join(kind.also_report)}"
    )


def describe_script_mismatch(language: Language, scripts: Mapping[str, float]) -> str:
    """Return a message if most of a text is not in a script of the language, otherwise ""."""
    letters = sum(scripts.values())
    if not language.scripts or not letters:
        return ""
    expected_share = sum(scripts.get(script, 0) for script in language.scripts) / letters
    main_script = max(scripts, key=lambda script: scripts[script])
    kana = scripts.get("kana", 0) / letters
    if kana > tokenizers.UNSPLIT_SCRIPTS["kana"].share and language.scripts == ("han",):
        main_script, expected_share = "kana", 0.0
    if expected_share >= 0.05 or main_script in language.scripts:
        return ""
    expected_scripts = " or ".join(map(format_script_name, language.scripts))
    if main_script == "kana":
        return f"-l selects {language.name}, but the text contains kana, a Japanese script"
    return (
        f"-l selects {language.name}, which is written in {expected_scripts}, but only "
        f"{expected_share:.0%} of the letters match; most are {format_script_name(main_script)}"
    )


def format_script_name(script: str) -> str:
    """Return the name of a script for messages.

    >>> format_script_name("tai_tham"), format_script_name("han")
    ('Tai Tham', 'Han characters')
    """
    words = {"han": "Han characters", "kana": "kana"}
    return words.get(script) or script.replace("_", " ").title()


# ---- traditional and simplified Chinese ----

# Minimum share of one variant among the characters that belong to only one variant.
MIN_VARIANT_SHARE = 0.8
# Minimum number of characters that belong to only one variant.
MIN_VARIANT_CHARACTERS = 20


def detect_chinese_variant(han: str) -> str:
    """Return "traditional" or "simplified" for Han characters, or "" if neither is certain.

    A character belongs to a variant if only its standard contains it: GB 2312 of 1980, or the
    common characters of Big5.

    >>> text = "這個國家的經濟發展與環境"
    >>> detect_chinese_variant(text) or detect_chinese_variant(text * 3)
    'traditional'
    """
    variants = list(filter(None, map(_classify_character, han)))
    for variant in ("traditional", "simplified"):
        is_main = variants.count(variant) > MIN_VARIANT_SHARE * len(variants)
        if len(variants) >= MIN_VARIANT_CHARACTERS and is_main:
            return variant
    return ""


@cache
def _classify_character(character: str) -> str:
    big5_bytes = character.encode("big5", "ignore")
    # Common characters are in the first of Big5's two tables, A440 to C67E.
    is_traditional = b"\xa4\x40" <= big5_bytes <= b"\xc6\x7e"
    is_simplified = bool(character.encode("gb2312", "ignore"))
    # Characters in the second table of Big5 are rare and belong to neither variant.
    if is_traditional == is_simplified or (is_simplified and big5_bytes):
        return ""
    return "traditional" if is_traditional else "simplified"
