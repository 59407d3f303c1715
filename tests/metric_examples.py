"""The five pairs whose numbers by other programs are known, hypothesis and reference."""

GOLDEN = [
    ("the cat sat on the mat", "the cat is on the mat"),
    (
        (
            "It is a guide to action which ensures that the military always obeys the commands of "
            "the party"
        ),
        "It is a guide to action that ensures that the military will forever heed Party commands",
    ),
    ("He was walking his dogs yesterday.", "Yesterday he walked the dog."),
    ("Die Katze saß auf der Matte.", "Die Katze liegt auf der Matte."),
    ("hello", "completely different words here"),
]
