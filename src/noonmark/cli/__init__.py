"""The command `noonmark`, one file per noun. Commands import heavy modules when they run, so help is instant."""


def main() -> None:
    from noonmark.cli.root import root

    root(prog_name="noonmark")
