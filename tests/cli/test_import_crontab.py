"""`noonmark import crontab`: what is carried over, and what is told instead."""

import msgspec
import pytest

from noonmark.cli.importing.crontab import Options, name_of, read_crontab, split_percent
from noonmark.cli.importing.found import Found
from noonmark.cli.manifest.read import read_text
from noonmark.schedule.spec import Cron

USERS = r"""
SHELL=/bin/bash
PATH = "/usr/local/bin:/usr/bin"
MAILTO=ops@example.com

# Nightly backup of the books
# (takes an hour)
0 2 * * *   /usr/local/bin/backup.sh --all > /dev/null 2>&1

# 5 5 * * * /old/thing
*/5 * * * * cd /srv/app && ./tick.sh
CRON_TZ=Europe/Berlin
30 9 * * 1-5 mail -s "10\% off" bob%Dear Bob,%how are you?
@reboot /usr/bin/startup
@daily /usr/bin/backup.sh
@daily /usr/bin/backup.sh --again
MAILTO=""
RANDOM_DELAY=5
0~30 3 * * * /usr/bin/random
TZ=Asia/Tokyo
-*/10 * * * * /usr/bin/quiet
"""


def read(text: str, **options: object) -> Found:
    found = Found(now_us=1_900_000_000_000_000)
    read_crontab(text, found, Options(source="tab", **options))
    return found


def inputs(found: Found) -> dict[str, object]:
    return {job.spec.name: msgspec.json.decode(bytes(job.spec.input)) for job in found.jobs}


def test_the_lines_of_a_user():
    found = read(USERS)
    specs = {job.spec.name: job.spec for job in found.jobs}
    assert list(specs) == [
        "nightly-backup-of-the-books", "tick.sh", "mail", "backup.sh", "backup.sh-2", "random", "quiet",
    ]  # fmt: skip
    assert specs["nightly-backup-of-the-books"].schedule == Cron("0 2 * * *")
    assert specs["mail"].schedule == Cron("30 9 * * 1-5", "Europe/Berlin")
    assert specs["backup.sh"].schedule == Cron("@daily", "Europe/Berlin")
    assert specs["random"].schedule == Cron("H(0-30) 3 * * *", "Europe/Berlin")
    assert specs["quiet"].schedule == Cron("*/10 * * * *", "Europe/Berlin")
    assert (specs["backup.sh"].jitter_s, specs["random"].jitter_s) == (0.0, 300.0)
    assert {spec.task for spec in specs.values()} == {"shell"}


def test_commands_environment_and_standard_input():
    given = inputs(read(USERS))
    environment = {"SHELL": "/bin/bash", "PATH": "/usr/local/bin:/usr/bin"}
    assert given["mail"] == {
        "command": 'mail -s "10% off" bob', "env": environment, "stdin": "Dear Bob,\nhow are you?\n",
    }  # fmt: skip
    assert given["tick.sh"] == {"command": "cd /srv/app && ./tick.sh", "env": environment}
    assert given["quiet"]["env"] == environment | {"TZ": "Asia/Tokyo"}


def test_what_was_not_carried_over_is_told():
    notes = [(note.where, note.carried, note.what) for note in read(USERS + "no line\n61 * * * * bad\n").notes]
    told = "\n".join(f"{where} {carried} {what}" for where, carried, what in notes)
    assert "tab:4 True MAILTO=ops@example.com" in told
    assert "tab:14 False @reboot" in told
    assert "True '0~30 3 * * *': a random time" in told
    assert "True TZ=Asia/Tokyo" in told
    assert "tab:22 False this is no line of a crontab: no line" in told
    assert "tab:23 False schedule.cron: the minute field '61'" in told
    assert "2 schedules were taken as UTC" in told
    assert "the task 'shell'" in told
    assert "MAILTO=:" not in told


def test_a_zone_for_all():
    found = read("0 2 * * * a\n", tz="Europe/Berlin")
    assert found.jobs[0].spec.schedule == Cron("0 2 * * *", "Europe/Berlin")
    assert not any("UTC" in note.what for note in found.notes)


def test_the_crontab_of_the_system_names_users():
    text = "17 * * * * root cd / && run-parts /etc/cron.hourly\n25 6 * * * www-data /usr/bin/x y\n0 0 * * * root\n"
    found = read(text, system=True, task="run_as")
    assert inputs(found) == {
        "run-parts": {"command": "cd / && run-parts /etc/cron.hourly", "user": "root"},
        "x": {"command": "/usr/bin/x y", "user": "www-data"},
    }
    assert found.jobs[0].spec.task == "run_as"
    assert any(not note.carried and "no command after the user" in note.what for note in found.notes)
    assert list(inputs(read(text, system=True, user="www-data"))) == ["x"]


@pytest.mark.parametrize(
    ("rest", "command", "stdin"),
    [
        ("a b", "a b", None),
        (r"date +\%F", "date +%F", None),
        ("cat%one%two", "cat", "one\ntwo\n"),
        (r"cat%50\% off", "cat", "50% off\n"),
        ("cat%", "cat", "\n"),
    ],
)
def test_percent(rest, command, stdin):
    assert split_percent(rest) == (command, stdin)


@pytest.mark.parametrize(
    ("command", "name"),
    [("/usr/bin/x -a", "x"), ("A=1 B=2 ./y.sh", "y.sh"), ("cd /tmp; z", "z"), ('"/opt/my app"', "my"), ("", "job")],
)
def test_names_of_commands(command, name):
    assert name_of(command) == name


def test_the_manifest_reads_back_and_the_report_goes_to_stderr(noonmark, tmp_path):
    file = tmp_path / "tab"
    file.write_text(USERS)
    result = noonmark("import", "crontab", str(file), "--managed-by", "old-box")
    assert result.exit_code == 0, result.output
    manifest = read_text("out", result.stdout)
    assert len(manifest.jobs) == 7
    assert manifest.owners == {"old-box"}
    assert "# (takes an hour)" in result.stdout
    assert "@reboot" in result.stderr
    assert "7 jobs, 1 not carried over." in result.stderr


def test_out_and_json(noonmark, tmp_path):
    file, out = tmp_path / "tab", tmp_path / "jobs.yaml"
    file.write_text("@reboot x\n0 2 * * * y\n")
    result = noonmark("import", "crontab", str(file), "--out", str(out), "-o", "json")
    told = msgspec.json.decode(result.stdout)
    assert [job["name"] for job in told["jobs"]] == ["y"]
    assert [note["where"] for note in told["notes"] if not note["carried"]] == [f"{file}:1"]
    assert list(read_text("out", out.read_text()).jobs) == ["y"]
    assert "cannot read" in noonmark.refuses("import", "crontab", str(tmp_path / "none"))
    assert "--out" in noonmark.refuses("import", "crontab", str(file), "--out", str(tmp_path / "no" / "x.yaml"))
