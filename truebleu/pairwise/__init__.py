"""Every hypothesis against every reference: consensus (MBR) and diversity."""
