"""`python -m truebleu.compat.sacrebleu` is sacreBLEU's command."""

from .sacrebleu import main

if __name__ == "__main__":
    main()
