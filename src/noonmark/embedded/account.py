"""The operating-system account that runs the server, and what that account can reach."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noonmark.embedded.errors import EmbeddedPostgresError


@dataclass(frozen=True)
class Account:
    """`switch` is true when we are root and commands must be run as somebody else."""

    uid: int
    gid: int
    switch: bool

    def popen_options(self) -> dict[str, Any]:
        """Options for subprocess: the account, a folder that everybody can enter, no PG* variables, no terminal."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
        options: dict[str, Any] = {"cwd": "/", "env": environment | {"LC_ALL": "C"}}
        if self.switch:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def give(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        return self._succeeds("/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder))

    def can_run(self, program: Path) -> bool:
        return self._succeeds(str(program), "--version")

    def _succeeds(self, *command: str) -> bool:
        # Asked of the kernel rather than computed from modes: access lists and mount options count too.
        try:
            return subprocess.run(command, **self.popen_options(), capture_output=True, check=False).returncode == 0
        except PermissionError:
            return False


def account_for(cluster: Path) -> Account:
    """The account for this cluster: ourselves, or as root the cluster's owner, or `nobody`."""
    owner = cluster.stat().st_uid if cluster.exists() else None
    if os.geteuid() != 0:
        if owner is not None and owner != os.geteuid():
            raise EmbeddedPostgresError(
                f"The database in {cluster} belongs to another user ({_name_of(owner)}). "
                "Run as that user, or choose another data directory."
            )
        return Account(os.geteuid(), os.getegid(), switch=False)
    if owner == 0:
        raise EmbeddedPostgresError(
            f"The database in {cluster} belongs to root, and PostgreSQL refuses to run as root."
        )
    try:
        entry = pwd.getpwnam("nobody") if owner is None else pwd.getpwuid(owner)
    except KeyError:
        wanted = "nobody" if owner is None else f"uid {owner}"
        raise EmbeddedPostgresError(
            f"PostgreSQL refuses to run as root, and this system has no account for {wanted}. "
            "Run as an ordinary user, or name a server with --database-url."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
