"""The command `noonmark`, one file per noun. Commands import what is heavy when they run, so that help is instant."""


def main() -> None:
    from noonmark.cli.root import root

    root(prog_name="noonmark")
