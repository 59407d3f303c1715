"""Fingerprints of screenshots detect visible changes and ignore font smoothing."""

import io

import pytest

pytest.importorskip("PIL", reason="no Pillow to compare pictures with")

import screenshots
from PIL import Image, ImageDraw


def draw_picture(*, moved=0, ink="#1c2230", paper="#ffffff", noise=0):
    image = Image.new("RGB", (1440, 900), paper)
    draw = ImageDraw.Draw(image)
    for row in range(20):
        draw.rectangle((60 + noise, 40 * row + moved, 1200 - 30 * row + noise, 40 * row + 18), ink)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def describe_change(before, after):
    return screenshots.describe_differences(
        {"one": screenshots.fingerprint(before)}, {"one": screenshots.fingerprint(after)}
    )


def test_equal_and_slightly_shifted_images_are_accepted():
    assert describe_change(draw_picture(), draw_picture()) == []
    assert describe_change(draw_picture(), draw_picture(noise=1)) == []


def test_visible_change_is_reported():
    assert "places moved" in describe_change(draw_picture(), draw_picture(moved=14))[0]
    assert "a colour by" in describe_change(draw_picture(), draw_picture(paper="#c0d0ff"))[0]
    blank = draw_picture(ink="#ffffff")
    assert "places moved" in describe_change(draw_picture(), blank)[0]


def test_new_and_missing_images_are_reported():
    fingerprint = screenshots.fingerprint(draw_picture())
    differences = screenshots.describe_differences({"old": fingerprint}, {"new": fingerprint})
    assert differences == ["old: accepted, and no longer made", "new: new"]
