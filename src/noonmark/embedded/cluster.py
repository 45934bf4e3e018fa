"""A database cluster on disk: where it lives, and how it is made, in one step that a crash cannot leave half done."""

import hashlib
import os
import secrets
import shutil
import subprocess
from pathlib import Path

from noonmark.embedded.account import Account
from noonmark.embedded.binaries import SYSTEM_HOME, make_system_home
from noonmark.embedded.errors import EmbeddedPostgresError

ROLE = "noonmark"
DATABASE = "noonmark"
_ACCESS = """\
# The socket's folder lets in only the owner; over TCP a password is asked for.
local all all trust
host  all all 127.0.0.1/32 scram-sha-256
"""


def place_cluster(link: Path, account: Account, system_home: Path = SYSTEM_HOME) -> None:
    """Give a new cluster its place: `link` itself, or where the account cannot reach that, a symlink elsewhere."""
    if link.is_symlink() or link.exists():
        return
    if account.switch and not account.can_enter(link.parent):
        name = f"{hashlib.sha256(str(link).encode()).hexdigest()[:8]}-{secrets.token_hex(4)}"
        home = make_system_home(system_home) / name
        home.mkdir(mode=0o700)
        account.give(home)
        link.symlink_to(home / link.name)


def make_cluster(cluster: Path, binaries: Path, account: Account, password: str) -> None:
    """Run initdb beside the final place, create our database, then rename."""
    scratch = _unfinished(cluster)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    account.give(scratch)
    _run(
        [
            str(binaries / "initdb"),
            f"--pgdata={scratch}",
            f"--username={ROLE}",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--data-checksums",
            "--auth=trust",
            "--no-instructions",
        ],
        account,
    )
    statements = f"CREATE DATABASE {DATABASE} OWNER {ROLE};\nALTER ROLE {ROLE} PASSWORD '{password}';\n"
    _run([str(binaries / "postgres"), "--single", "-D", str(scratch), "postgres"], account, statements)
    (scratch / "pg_hba.conf").write_text(_ACCESS)
    scratch.rename(cluster)
    _sync(cluster.parent)


def read_or_make_password(file: Path) -> str:
    if not file.exists():
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(24))
    return file.read_text().strip()


def remove_cluster(link: Path, system_home: Path = SYSTEM_HOME) -> None:
    cluster = link.readlink() if link.is_symlink() else link
    shutil.rmtree(_unfinished(cluster), ignore_errors=True)
    shutil.rmtree(cluster, ignore_errors=True)
    if link.is_symlink():
        link.unlink()
        if cluster.parent.parent == system_home:  # the folder that place_cluster made, and no other
            cluster.parent.rmdir()


def _unfinished(cluster: Path) -> Path:
    return cluster.with_name(f"{cluster.name}.new")


def _run(command: list[str], account: Account, statements: str = "") -> None:
    done = subprocess.run(
        command, **account.popen_options(), input=statements, capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or "ERROR:" in done.stderr:
        raise EmbeddedPostgresError(
            f"{Path(command[0]).name} could not make a database cluster.", log_tail=(done.stdout + done.stderr)[-4000:]
        )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
