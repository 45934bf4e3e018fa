"""/v1/dead: the runs that used up their attempts, and the way back."""

import msgspec
from litestar import get, post
from litestar.params import FromQuery, JSONBody

from noonmark.api import present
from noonmark.api.bodies import DeadPage, Redrive, Redriven
from noonmark.api.body import JsonBody
from noonmark.api.call import Call, Here
from noonmark.api.pages import AfterDead, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.errors import InvalidInput, NotFound
from noonmark.model.ids import RunKey, parse_run, run_text, shard_of
from noonmark.store.reads.runs import list_dead, list_dead_of_job


@get("/")
async def list_dead_letters(
    call: Here, job: FromQuery[str | None] = None, limit: Limit = 100, cursor: Cursor = None
) -> DeadPage:
    """By shard, job and nominal time, the order of their key: what dies or goes meanwhile shifts nothing."""
    after = decode_cursor(cursor, AfterDead)
    if job is None:
        rows = await list_dead(
            call.node.pool, call.tenant_id, after=(after.shard, after.job_id, after.nominal_us), limit=limit + 1
        )
    else:
        job_id = (await call.job(job)).job_id
        rows = await list_dead_of_job(
            call.node.pool, call.tenant_id, job_id, after_us=after.nominal_us, limit=limit + 1
        )
    page, more = cut(rows, limit)
    cursor_on = encode_cursor(AfterDead(page[-1].shard, page[-1].job_id, page[-1].nominal_us)) if more else None
    return DeadPage([present.dead_letter(row) for row in page], cursor_on)


@post("/redrive", status_code=200, dto=JsonBody, return_dto=None)
async def redrive(data: JSONBody[Redrive], call: Here) -> Redriven:
    """Makes dead letters runs again, due now, with their attempts counted anew; says how many."""
    if (data.runs is None) == (data.job is None):
        raise InvalidInput("runs", "either `runs` or `job` is needed, and not both", "name the runs, or their job")
    if data.runs is not None:
        return await _redrive_runs(call, data.runs)
    return await _redrive_job(call, str(data.job), data.limit)


async def _redrive_job(call: Call, ref: str, limit: int) -> Redriven:
    job_id = (await call.job(ref)).job_id

    async def command() -> Redriven:
        rows = await list_dead_of_job(call.node.pool, call.tenant_id, job_id, after_us=0, limit=limit)
        keys: list[RunKey] = [(row.job_id, row.nominal_us) for row in rows]
        return Redriven(await call.node.redrive(call.tenant_id, keys) if keys else 0)

    return await call.at_owner(shard_of(job_id), command, Redriven)


async def _redrive_runs(call: Call, texts: list[str]) -> Redriven:
    keys = list(dict.fromkeys(_parse(call, position, text) for position, text in enumerate(texts)))

    async def here(part: list[RunKey]) -> list[int]:
        return _count_once(await call.node.redrive(call.tenant_id, part), len(part))

    counts = await call.at_owners(
        keys,
        [shard_of(job_id) for job_id, _ in keys],
        here=here,
        body=lambda part: Redrive(runs=[run_text(key) for key in part]),
        read=lambda answer, size: _count_once(msgspec.json.decode(answer, type=Redriven).redriven, size),
        label=lambda position: run_text(keys[position]),
    )
    return Redriven(sum(counts))


def _parse(call: Call, position: int, text: str) -> RunKey:
    try:
        key = parse_run(text)
    except InvalidInput as error:
        error.field = f"runs[{position}]"
        raise
    if shard_of(key[0]) >= call.node.shard_count:
        raise NotFound(f"there is no run {text}", field=f"runs[{position}]", fix="list them: GET /v1/dead")
    return key


def _count_once(count: int, size: int) -> list[int]:
    """A part is answered with one number for all its items."""
    return [count, *[0] * (size - 1)]


handlers = [list_dead_letters, redrive]
