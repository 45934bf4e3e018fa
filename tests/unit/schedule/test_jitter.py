"""Jitter is stable for ever: the offsets of today's jobs are pinned here."""

from collections import Counter

from noonmark.schedule import jitter_offset_us

PINNED = [26_499_000, 16_996_000, 17_735_000, 25_222_000, 4_969_000]


def test_pinned() -> None:
    assert [jitter_offset_us(job, 30_000_000) for job in (0, 1, 2, 4096, 2**63 - 1)] == PINNED


def test_bounds() -> None:
    for jitter_us in (1, 999, 1_000, 1_500, 2_000, 86_400_000_000):
        offsets = [jitter_offset_us(job, jitter_us) for job in range(2_000)]
        assert min(offsets) >= 0
        assert max(offsets) < jitter_us
        assert all(offset % 1_000 == 0 for offset in offsets)
    assert jitter_offset_us(7, 0) == 0


def test_uniform_over_ids_of_one_shard() -> None:
    """Ids of one shard are 4096 apart, the worst case of a weak hash."""
    buckets = Counter(jitter_offset_us(sequence << 12 | 5, 10_000) for sequence in range(100_000))
    assert sorted(buckets) == [bucket * 1_000 for bucket in range(10)]
    assert all(abs(count - 10_000) < 500 for count in buckets.values())
