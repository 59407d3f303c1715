"""sacreBLEU's command as a process: `truebleu-sacrebleu`, `python -m truebleu.compat.sacrebleu`."""

import gc


def main() -> None:
    """Runs the command line of a process that has nothing else to do."""
    # It is about to end, and has nothing to gain from collecting garbage.
    gc.disable()
    from truebleu.text.termination import raise_at_signals

    from .sacrebleu import main as run

    raise_at_signals()
    run()
    gc.freeze()


if __name__ == "__main__":
    main()
