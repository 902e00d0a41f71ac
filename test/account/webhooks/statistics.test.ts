import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bucketOf, quantileMs } from '#src/account/webhooks/latency.ts'
import { countOutcomes, STATISTICS_DAYS } from '#src/account/webhooks/statistics.ts'
import { call } from '../../support/http.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

describe('quantiles of bucketed durations', () => {
  it('are those of the durations, to 10 %', () => {
    const durations = fc.array(fc.integer({ min: 3, max: 200_000_000 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.99), (given, share) => {
        const counts = new Map<number, number>()
        for (const ms of given) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1)
        const found =
          quantileMs(
            [...counts].map(([bucket, count]) => ({ bucket, count })),
            share,
          ) ?? 0
        const exact = given.toSorted((a, b) => a - b)[Math.ceil(given.length * share) - 1] ?? 0
        // Whole milliseconds add half of one.
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.1 + 0.5)
      }),
    )
    expect(quantileMs([], 0.5)).toBeNull()
    for (const ms of [-5, 0, 1, Number.NaN]) expect(bucketOf(ms)).toBe(0)
  })
})

describe('the statistics of an endpoint', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
  })
  afterAll(() => fixture.close())

  async function makeEndpoint() {
    const scope = await fixture.makeAccount()
    const key = fixture.addKey(scope)
    let code = 200
    const { url } = await fixture.receiver((response) => response.writeHead(code).end())
    const { id } = await fixture.makeEndpoint(url, ['*'], scope)
    return {
      scope,
      id,
      answerWith: (status: number) => {
        code = status
      },
      emit: async () => (await fixture.emit([escalated('clm_test_a')], scope))[0]?.deliveryIds[0] ?? '',
      stats: async (query = '') => (await call(fixture.app, `/v1/webhook-endpoints/${id}/stats${query}`, { key })).json,
    }
  }

  it('count every attempt once, by its result, with the times of arrival and response and what waits', async () => {
    const one = await makeEndpoint()
    expect(await one.stats()).toMatchObject({
      window: '24h',
      attempts: 0,
      success_rate: null,
      arrival_ms: { p50: null, p99: null },
      pending: { count: 0, is_exact: true, oldest_created_at: null },
    })
    one.answerWith(500)
    const first = await one.emit()
    await fixture.owner(`UPDATE deliveries SET created_at = now() - interval '60 s' WHERE id = $1`, [first])
    await fixture.runOnce(first)
    one.answerWith(200)
    await fixture.runOnce(first)
    await fixture.runOnce(first)
    await one.emit()
    await one.emit()
    const stats = await one.stats('?window=7d')
    expect(stats).toMatchObject({ window: '7d', attempts: 2, delivered: 1, failed: 1, success_rate: 0.5 })
    expect(stats.pending).toMatchObject({ count: 2, is_exact: true })
    const { arrival_ms: arrival, response_ms: response } = stats as Record<string, { p50: number }>
    expect(arrival?.p50).toBeGreaterThan(54_000)
    expect(response?.p50).toBeLessThan(54_000)
    expect(await one.stats('?window=24h')).toMatchObject({ attempts: 2 })
    expect((await one.stats('?window=1h')).code).toBe('invalid_request')
  })

  it('count every attempt of many that end at about the same time', async () => {
    const one = await makeEndpoint()
    const deliveries = await Promise.all(Array.from({ length: 40 }, one.emit))
    await Promise.all(deliveries.map((id) => fixture.runOnce(id)))
    expect(await one.stats()).toMatchObject({ delivered: 40, failed: 0 })
    one.answerWith(500)
    const last = await one.emit()
    await fixture.runOnce(last)
    expect(await one.stats()).toMatchObject({ delivered: 40, failed: 1 })
  })

  it('lose no attempt of transactions that count at once, leave out hours before the window, and are deleted after it', async () => {
    const { scope, id, stats } = await makeEndpoint()
    const outcome = { endpointId: id, isDelivered: true, durationMs: 20, arrivalMs: 30 }
    await Promise.all(
      Array.from({ length: 40 }, () => fixture.db.tenant(scope, (tx) => countOutcomes(tx, scope, [outcome, outcome]))),
    )
    expect(await stats()).toMatchObject({ delivered: 80 })
    await fixture.owner(
      `INSERT INTO endpoint_statistics SELECT account_id, environment, endpoint_id, hour - past.age, shard, kind, bucket, count
       FROM endpoint_statistics, (VALUES (interval '30 hours'), (interval '8 days')) AS past (age) WHERE endpoint_id = $1`,
      [id],
    )
    expect(await stats()).toMatchObject({ delivered: 80 })
    expect(await stats('?window=7d')).toMatchObject({ delivered: 160 })
    const past = new Date(Date.now() - STATISTICS_DAYS * 86_400_000 + 3_600_000)
    await fixture.retention('endpoint_statistics').purge(scope, past, new AbortController().signal)
    const [row] = await fixture.owner('SELECT sum(count)::int AS sum FROM endpoint_statistics WHERE kind = $1', [
      'answer',
    ])
    expect(row?.sum).toBeGreaterThanOrEqual(160)
    expect(await fixture.owner(`SELECT 1 FROM endpoint_statistics WHERE hour < now() - interval '3 days'`)).toEqual([])
  })
})
