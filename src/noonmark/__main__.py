"""`python -m noonmark` is the command `noonmark`."""

from noonmark.cli import main

if __name__ == "__main__":
    main()
