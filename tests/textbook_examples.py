"""Examples that everyone who writes about BLEU uses."""

# Papineni et al. (2002), section 2.1: two candidates, three references.
GUIDE = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
TROOPS = "It is to insure the troops forever hearing the activity guidebook that party direct"
GUIDE_REFERENCES = (
    "It is a guide to action that ensures that the military will forever heed Party commands",
    (
        "It is the guiding principle which guarantees the military forces always "
        "being under the command of the Party"
    ),
    "It is the practical guide for the army always to heed the directions of the party",
)
