// Workers of attributions and diffs die at each step of their work, one at each: one manifest or report, one event and one
// count of each job is left.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKeys } from '#src/account/keys/keys.ts'
import { hashOf, pathOf, readAttributions } from '../../faults/attributions.ts'
import { checkAttributions } from '../../faults/check-attributions.ts'
import { sampleEvidence } from '../../faults/sample.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

// A checkpoint comes every few seconds of a diff: test/trace/diffs/diffs.test.ts stops at those.
const POINTS = {
  trace: ['trace:started', 'trace:computed', 'trace:made', 'trace:settling', 'trace:ended'],
  diff: ['diff:started', 'diff:measured', 'diff:settling', 'diff:settled'],
}
type Queue = keyof typeof POINTS
const QUEUES = Object.keys(POINTS) as Queue[]
const MODEL = 'countersign-tiny'
let system: System
let key: string

beforeAll(async () => {
  system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch'] })
  const { db } = system.database
  // What is done in live is counted.
  const scope = { ...system.scope, environment: 'live' } as const
  key = (await createKeys({ db }).create(scope, { name: 'live', scopes: ['intent'] })).key
})
afterAll(() => system?.close())

const send = (path: string, json?: unknown) =>
  fetch(`${system.baseUrl}${path}`, {
    method: json === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  })
const call = async (path: string, json: unknown) => (await (await send(path, json)).json()) as Record<string, string>

async function submit() {
  const prompt = 'What do lamps cost at Cobalt Tools?'
  const prompts = [{ messages: [{ role: 'user', content: prompt }] }]
  const { eval_set_id } = await call('/v1/trace/eval-sets', { name: 'Prices', prompts })
  const { trace_id } = await call('/v1/trace/inferences', { prompt, retain: 'text', max_tokens: 4 })
  const sides = { base_model: MODEL, target_model: MODEL, eval_set: eval_set_id }
  // One that dies after the end of a job leaves nothing to the others.
  const made = [1, 2].map(async () => [
    (await call('/v1/trace/jobs', { trace_id, max_feature_nodes: 16 })).job_id ?? '',
    (await call('/v1/trace/diffs', sides)).diff_id ?? '',
  ])
  return (await Promise.all(made)).flat()
}

/** A worker that dies at a point. Resolves when it has. */
async function startDying(queue: Queue, point: string): Promise<() => Promise<void>> {
  const dying = await system.add(queue, { FAILPOINT: point })
  const child = dying.children.get(queue)
  return async () => {
    await until(() => child?.signalCode === 'SIGKILL', { timeoutMs: 100_000, what: `it died at ${point}` })
    await dying.stop()
    // As dispatch does by itself when the lease has lapsed, 20 to 30 s later.
    await system.database.owner(
      `UPDATE jobs SET state = 'queued', lease_until = NULL WHERE queue = $1 AND lease_until IS NOT NULL`,
      [queue],
    )
  }
}

it('attributions and diffs whose workers are killed at each step end once', { timeout: 500_000 }, async () => {
  const ids = await submit()
  await Promise.all(
    QUEUES.map(async (queue) => {
      for (const point of POINTS[queue]) await (await startDying(queue, point))()
      await system.add(queue)
    }),
  )
  const { owner } = system.database
  const open = () => owner("SELECT FROM jobs WHERE queue IN ('trace', 'diff') AND state <> 'succeeded'")
  await until(async () => (await open()).length === 0, { everyMs: 50, timeoutMs: 200_000, what: 'all jobs succeeded' })
  const answered = ids.map((id) => ({ request: id, id }))
  const shown = await Promise.all(
    ids.map(async (id) => ({ id, sha256: hashOf(id, await (await send(pathOf(id))).text()) })),
  )
  const attributions = await readAttributions({ owner }, { answered, shown })
  expect(checkAttributions({ ...sampleEvidence(), attributions })).toEqual([])
  expect(attributions.works.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  expect(attributions.counted.toSorted()).toEqual(ids.toSorted())
})
