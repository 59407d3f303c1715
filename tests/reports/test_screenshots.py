"""What is kept of accepted pictures tells a changed page from one that only has other letters."""

import io

import pytest

pytest.importorskip("PIL", reason="no Pillow to compare pictures with")

import screenshots
from PIL import Image, ImageDraw


def picture(*, moved=0, ink="#1c2230", paper="#ffffff", noise=0):
    image = Image.new("RGB", (1440, 900), paper)
    draw = ImageDraw.Draw(image)
    for row in range(20):
        draw.rectangle((60 + noise, 40 * row + moved, 1200 - 30 * row + noise, 40 * row + 18), ink)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def told(before, after):
    return screenshots.differences(
        {"one": screenshots.kept(before)}, {"one": screenshots.kept(after)}
    )


def test_the_same_picture_and_one_a_pixel_beside_are_accepted():
    assert told(picture(), picture()) == []
    assert told(picture(), picture(noise=1)) == []


def test_a_change_is_told():
    assert "places moved" in told(picture(), picture(moved=14))[0]
    assert "a colour by" in told(picture(), picture(paper="#c0d0ff"))[0]
    blank = picture(ink="#ffffff")
    assert "places moved" in told(picture(), blank)[0]


def test_new_pictures_and_missing_ones_are_told():
    one = screenshots.kept(picture())
    found = screenshots.differences({"old": one}, {"new": one})
    assert found == ["old: accepted, and no longer made", "new: new"]


def test_the_readme_s_pictures_are_small_and_the_same_size():
    small = screenshots.smaller(picture())
    assert Image.open(io.BytesIO(small)).size == (1440, 900)
    assert len(small) < 5_000
