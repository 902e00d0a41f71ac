// The worker dies with the graph in its hands, and again right after the commit: one manifest, one event.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { type System, startSystem } from '../../support/system.ts'
import { until } from '../../support/until.ts'

const POINTS = ['trace:made', 'trace:ended']
let system: System

beforeAll(async () => {
  system = await startSystem({
    engine: 'postgres',
    only: ['web', 'dispatch', 'trace'],
    environmentOf(name, launch): Record<string, string> {
      const point = name === 'trace' ? POINTS[launch - 1] : undefined
      return point === undefined ? {} : { FAILPOINT: point }
    },
  })
})
afterAll(() => system?.close())

const call = async (path: string, json?: unknown) => {
  const answer = await fetch(`${system.baseUrl}${path}`, {
    method: json === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${system.key}`, 'Content-Type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  })
  return (await answer.json()) as Record<string, unknown>
}

it('an attribution whose worker is killed at two steps ends with one manifest and one event', async () => {
  const prompt = 'What do lamps cost at Cobalt Tools?'
  const { trace_id } = await call('/v1/trace/inferences', { prompt, retain: 'text', max_tokens: 4 })
  const { job_id } = await call('/v1/trace/jobs', { trace_id, max_feature_nodes: 32 })
  const deaths = () => system.warnings.filter((line) => line.includes('trace') && /exit|died|ended/i.test(line)).length
  await until(
    async () => {
      // The lease of a worker that is gone would lapse by itself, 20 s later.
      await system.database.owner(
        `UPDATE jobs SET lease_until = now() WHERE queue = 'trace' AND state = 'running' AND attempts <= $1`,
        [deaths()],
      )
      return (await call(`/v1/trace/jobs/${job_id}`)).state === 'succeeded'
    },
    { everyMs: 200, timeoutMs: 90_000 },
  )
  const [counts] = await system.database.owner(
    `SELECT (SELECT count(*)::int FROM trace_manifests) AS manifests,
       (SELECT count(*)::int FROM events WHERE type = 'trace.job_completed') AS events,
       (SELECT state FROM jobs WHERE queue = 'trace') AS state`,
  )
  expect(counts).toEqual({ manifests: 1, events: 1, state: 'succeeded' })
})
