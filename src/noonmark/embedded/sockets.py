"""The folder of the server's Unix socket: short enough for the kernel, closed to other users."""

import hashlib
import stat
import tempfile
from pathlib import Path

from noonmark.embedded.account import Account
from noonmark.embedded.errors import EmbeddedPostgresError

_LONGEST_FOLDER = 85  # with /.s.PGSQL.65535 after it, below the 104 bytes that macOS allows


def socket_folder(cluster: Path, account: Account) -> Path:
    """The cluster's own folder, which is closed already; where its path is too long, one in the temporary folder."""
    if len(str(cluster).encode()) <= _LONGEST_FOLDER:
        return cluster
    name = f"noonmark-{account.uid}-{hashlib.sha256(str(cluster).encode()).hexdigest()[:12]}"
    temporary = Path(tempfile.gettempdir())
    folder = (temporary if len(str(temporary)) <= 40 else Path("/tmp")) / name
    try:
        folder.mkdir(mode=0o700)
        account.give(folder)
    except FileExistsError:
        pass
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise EmbeddedPostgresError(f"{folder} should be a folder for uid {account.uid} alone, and is not. Remove it.")
    return folder
