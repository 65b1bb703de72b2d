"""``python -m hideseek`` is the command line."""

from hideseek.cli import main

if __name__ == "__main__":
    main()
