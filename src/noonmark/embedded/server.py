"""Start, adopt, stop and restart one PostgreSQL server for one data directory."""

import contextlib
import fcntl
import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Literal, Self
from urllib.parse import quote

import psutil

from noonmark.embedded.account import Account, account_for
from noonmark.embedded.binaries import SYSTEM_HOME, find_binaries
from noonmark.embedded.cluster import (
    DATABASE,
    ROLE,
    make_cluster,
    place_cluster,
    read_or_make_password,
    remove_cluster,
)
from noonmark.embedded.errors import EmbeddedPostgresError
from noonmark.embedded.postmaster import Postmaster, find_postmaster, pid_file
from noonmark.embedded.settings import default_settings
from noonmark.embedded.sockets import socket_folder

_log = logging.getLogger("noonmark.embedded")

StopMode = Literal["fast", "immediate"]
_SIGNALS: Mapping[StopMode, signal.Signals] = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
_POLL_S = 0.01
_LOG_KEPT_BYTES = 10_000_000
_TAIL_BYTES = 4_000


class EmbeddedPostgres:
    """One server for one data directory. See the package for who may stop it and which account runs it."""

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
        start_timeout_s: float = 300,
        stop_timeout_s: float = 120,
        system_home: Path = SYSTEM_HOME,
    ) -> None:
        """`port` opens 127.0.0.1:port, with a password, beside the Unix socket. `settings` go over the defaults."""
        self.data_dir = data_dir.absolute()
        self.cluster = self.data_dir / "postgres"
        self.log_file = self.data_dir / "postgres.log"
        self.attached = False
        """The server was running already when `start()` was called."""
        self._port = port
        self._settings = dict(settings)
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._system_home = system_home
        self._process: subprocess.Popen[bytes] | None = None
        self._postmaster: Postmaster | None = None
        self._lock: IO[str] | None = None

    # What callers ask

    @property
    def url(self) -> str:
        """The database over the Unix socket."""
        running = self._running()
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(running.socket_dir, safe='')}&port={running.port}"

    @property
    def tcp_url(self) -> str | None:
        """The database over 127.0.0.1, with its password; None when the server has no port open."""
        running = self._running()
        if not running.listen_address:
            return None
        password = read_or_make_password(self.data_dir / "postgres.password")
        return f"postgresql://{ROLE}:{password}@{running.listen_address}:{running.port}/{DATABASE}"

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def is_keeper(self) -> bool:
        """Whether this object answers for the server, so that `stop()` stops it."""
        return self._lock is not None

    # What callers do

    def start(self) -> str:
        """Make the cluster if there is none, start its server or attach to the running one; return its URL."""
        deadline = time.monotonic() + self._start_timeout_s
        try:
            if self._take_lock():
                self._postmaster = self._adopt(deadline) or self._launch(deadline)
            else:
                self._postmaster = self._await_keeper(deadline)
        except OSError as error:
            self._abandon()
            raise EmbeddedPostgresError(
                f"PostgreSQL could not be started: {error}", log_tail=self._log_tail()
            ) from error
        except BaseException:
            self._abandon()
            raise
        if self.attached:
            _log.info("attached to the running PostgreSQL, pid %d, in %s", self.pid, self.data_dir)
        return self.url

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop the server that we answer for: `fast` ends sessions and checkpoints, `immediate` is as a crash."""
        if not self.is_keeper:
            self._postmaster = None
            return
        running = find_postmaster(self.cluster)
        if running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(running.pid, _SIGNALS[mode])
            self._await_exit(running.pid)
        elif self._process is not None:
            self._process.wait(self._stop_timeout_s)
        self._process = self._postmaster = None
        self._release_lock()

    def restart(self, mode: StopMode = "fast") -> str:
        if not self.is_keeper:
            raise EmbeddedPostgresError("Only the keeper of a server can restart it.")
        self.stop(mode)
        return self.start()

    def destroy(self) -> None:
        """Stop the server and delete the cluster with all its data, and what else we keep in the data directory."""
        if self._postmaster is not None and not self.is_keeper:
            raise EmbeddedPostgresError("Only the keeper of a server can destroy it.")
        sockets = Path(self._postmaster.socket_dir) if self._postmaster is not None else self.cluster
        self.stop("immediate")
        remove_cluster(self.cluster, self._system_home)
        with contextlib.suppress(OSError):
            sockets.rmdir()  # where it was a folder of its own
        for name in ("postgres.log", "postgres.log.1", "postgres.password", "postgres.lock"):
            (self.data_dir / name).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # How it is done

    def _running(self) -> Postmaster:
        if self._postmaster is None:
            raise EmbeddedPostgresError("The embedded PostgreSQL has not been started.")
        return self._postmaster

    def _take_lock(self) -> bool:
        if self._lock is not None:
            return True
        self.data_dir.mkdir(parents=True, exist_ok=True)
        lock = (self.data_dir / "postgres.lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._share(Path(lock.name))
        self._lock = lock
        return True

    def _release_lock(self) -> None:
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)  # also where a forked child holds the same file
            self._lock.close()
            self._lock = None

    def _abandon(self) -> None:
        """Leave nothing behind of a start that failed or was interrupted."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
        self._process = None
        self._release_lock()

    def _adopt(self, deadline: float) -> Postmaster | None:
        """The server that a former keeper left running, once it is ready."""
        if self._process is not None:
            self._process.poll()  # a child that was killed is a zombie until we look
        self.attached = False
        while (found := find_postmaster(self.cluster)) is not None:
            if found.ready and found.answers():
                self.attached = True
                return found
            self._pause(deadline, "The running PostgreSQL did not become ready.")
        return None

    def _await_keeper(self, deadline: float) -> Postmaster:
        while (found := find_postmaster(self.cluster)) is None or not (found.ready and found.answers()):
            self._pause(
                deadline, f"Another process keeps the database in {self.data_dir}, and its server is not ready."
            )
        self.attached = True
        return found

    def _launch(self, deadline: float) -> Postmaster:
        account = account_for(self.cluster)
        binaries = find_binaries(account, self._system_home)
        password = read_or_make_password(self.data_dir / "postgres.password")
        self._share(self.data_dir / "postgres.password")
        place_cluster(self.cluster, account, self._system_home)
        cluster = self.cluster.resolve()
        if not cluster.exists():
            make_cluster(cluster, binaries, account, password)
        self._roll_log()
        while True:
            pid_file(cluster).unlink(missing_ok=True)  # stale: we hold the lock, and no server was found
            log_from = self.log_file.stat().st_size if self.log_file.exists() else 0
            self._process = self._spawn(cluster, binaries, account)
            while (code := self._process.poll()) is None:
                found = find_postmaster(cluster)
                if found is not None and found.pid == self._process.pid and found.ready:
                    return found
                self._pause(deadline, "PostgreSQL did not become ready in time.")
            # After kill -9 of a postmaster its backends need a moment to notice.
            if "pre-existing shared memory block" in self._log_tail(log_from):
                self._pause(deadline, "Processes of a killed PostgreSQL are still running.")
                continue
            raise EmbeddedPostgresError(
                f"PostgreSQL ended with exit status {code} while starting.", log_tail=self._log_tail(log_from)
            )

    def _spawn(self, cluster: Path, binaries: Path, account: Account) -> subprocess.Popen[bytes]:
        settings = default_settings() | {
            "unix_socket_directories": str(socket_folder(cluster, account)),
            "unix_socket_permissions": "0700",
            "listen_addresses": "127.0.0.1" if self._port else "",
            "port": str(self._port or 5432),
        }
        command = [str(binaries / "postgres"), "-D", str(cluster)]
        for name, value in (settings | self._settings).items():
            command += ["-c", f"{name}={value}"]
        with self.log_file.open("ab") as log:
            self._share(self.log_file)
            # Its own session: Ctrl-C in the terminal is for the node, which stops the server last.
            return subprocess.Popen(
                command,
                **account.popen_options(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _await_exit(self, pid: int) -> None:
        try:
            if self._process is not None and self._process.pid == pid:
                self._process.wait(self._stop_timeout_s)
            else:
                psutil.Process(pid).wait(self._stop_timeout_s)
        except psutil.NoSuchProcess:
            pass
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired) as error:
            raise EmbeddedPostgresError("PostgreSQL did not stop in time.", log_tail=self._log_tail()) from error

    def _pause(self, deadline: float, complaint: str) -> None:
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(complaint, log_tail=self._log_tail())
        time.sleep(_POLL_S)

    def _share(self, file: Path) -> None:
        """As root, leave files to the owner of the data directory, who may run without root next time."""
        if os.geteuid() == 0:
            owner = self.data_dir.stat()
            os.chown(file, owner.st_uid, owner.st_gid)

    def _roll_log(self) -> None:
        if self.log_file.exists() and self.log_file.stat().st_size > _LOG_KEPT_BYTES:
            shutil.move(self.log_file, self.log_file.with_suffix(".log.1"))

    def _log_tail(self, log_from: int = 0) -> str:
        try:
            with self.log_file.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(log_from, size - _TAIL_BYTES))
                return log.read().decode(errors="replace").strip()
        except OSError:
            return ""
