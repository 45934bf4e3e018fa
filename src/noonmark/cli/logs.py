"""Logs of the long-running commands: structlog and the standard library's loggers through one renderer, to stderr."""

import logging
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer


class LogFormat(StrEnum):
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


FormatOption = Annotated[LogFormat, typer.Option("--log-format", envvar="NOONMARK_LOG_FORMAT", rich_help_panel="Logs")]
LevelOption = Annotated[LogLevel, typer.Option("--log-level", envvar="NOONMARK_LOG_LEVEL", rich_help_panel="Logs")]

_CHATTY = ("uvicorn.access", "aiohttp.access", "asyncio")


def set_up_logs(form: LogFormat, level: LogLevel, process: int = 0) -> None:
    """`process` stands in each line, if the node has several."""
    import msgspec
    import structlog
    from structlog.stdlib import ProcessorFormatter

    number = getattr(logging, level.upper())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if process:
        shared.append(lambda _logger, _method, event: {**event, "process": process})
    structlog.configure(
        processors=[*shared, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(number),
        cache_logger_on_first_use=True,
    )
    render: list[Any]
    if form is LogFormat.JSON:
        render = [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(
                serializer=lambda event, **_: msgspec.json.encode(event, enc_hook=repr).decode()
            ),
        ]
    else:
        plain = structlog.dev.plain_traceback
        render = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain, pad_event_to=0)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(), _drop_colour],
            processors=[ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    logging.basicConfig(handlers=[handler], level=number, force=True)
    logging.captureWarnings(True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    for name in _CHATTY:
        logging.getLogger(name).setLevel(number if level is LogLevel.DEBUG else max(number, logging.WARNING))


def _drop_colour(_logger: Any, _method: str, event: Any) -> Any:
    """uvicorn tells some things twice, the second time in colour."""
    event.pop("color_message", None)
    return event
