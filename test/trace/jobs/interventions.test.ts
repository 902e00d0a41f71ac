// Interventions with the tiny model: what they measure, and how they count.

import { describe, expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { useAttributions } from './attributions.ts'

const { at, infer, manifestOf, run, start } = useAttributions()

describe('an intervention', () => {
  it('on the neurons that matter most changes the logits as the graph predicts', async () => {
    const made = await start()
    await run(made.job_id)
    const { metadata, nodes } = JSON.parse(await (await manifestOf(made.job_id)).text())
    const [top] = metadata.svc.verified_nodes
    const path = `/v1/trace/traces/${made.trace_id}/interventions`
    const { json } = await at.on.post(at.caller, path, { edits: [{ node_id: top.node_id }] })
    const changes = new Map(
      (json.tokens as { token: number; measured_change: number; predicted_change: number }[]).map((one) => [
        one.token,
        one,
      ]),
    )
    const { token, contrast_token: contrast } = metadata.svc.objective
    const differ = (member: 'measured_change' | 'predicted_change') =>
      (changes.get(token)?.[member] ?? 0) - (changes.get(contrast)?.[member] ?? 0)
    expect(differ('measured_change')).toBeCloseTo(top.measured_delta, 4)
    expect(differ('predicted_change')).toBeCloseTo(top.predicted_delta, 4)
    const neuron = nodes.find(({ node_id }: { node_id: string }) => node_id === top.node_id)
    const [edit] = json.edits as { activation_before: number; activation_after: number }[]
    if (neuron !== undefined) expect(edit?.activation_before).toBeCloseTo(neuron.activation, 5)
    expect(edit?.activation_after).toBeCloseTo(0, 9)
    const beyond = await at.on.post(at.caller, path, { edits: [{ node_id: top.node_id }], target: { position: 200 } })
    expect(beyond.json.errors).toMatchObject([{ pointer: '/target/position', code: 'out_of_range' }])
    for (const edits of [[{ node_id: '9_0_0' }], [{ node_id: 'R_0_0' }], [], [{ node_id: '0_0_0', factor: 1e6 }]]) {
      expect((await at.on.post(at.caller, path, { edits })).json.code).toBe('invalid_request')
    }
  })

  const count = async () =>
    (await at.on.service.test.owner('SELECT FROM usage_entries WHERE account_id = $1', [at.caller.accountId])).length
  const headers = { 'Idempotency-Key': 'one' }
  const intervene = (traceId: unknown, factor: number, more: Record<string, string> = {}) =>
    at.on.post(at.caller, `/v1/trace/traces/${traceId}/interventions`, { edits: [{ node_id: '0_0_0', factor }] }, more)

  it('counts as an inference in live, and its repeat by an Idempotency-Key is measured again and does not count', async () => {
    at.caller = await at.on.makeCaller({ environment: 'live' })
    const { trace_id } = await infer()
    const before = await count()
    const first = await intervene(trace_id, 0, headers)
    const repeat = await intervene(trace_id, 0, headers)
    expect([repeat.status, repeat.headers['idempotent-replayed'], repeat.json]).toEqual([200, 'true', first.json])
    expect((await count()) - before).toBe(1)
    for (const [factor, expected] of [
      [0, 2],
      [0, 3],
      [1e6, 3],
    ] as const) {
      await intervene(trace_id, factor)
      expect((await count()) - before).toBe(expected)
    }
  })

  it('is refused for an Idempotency-Key of another one, before the model is asked', async () => {
    const { trace_id } = await infer()
    expect((await intervene(trace_id, 0, headers)).status).toBe(200)
    const { status, json } = await intervene(trace_id, 2, headers)
    expect([status, json.code]).toEqual([422, 'idempotency_key_reused'])
    // Before the model is asked which neurons it has.
    const path = `/v1/trace/traces/${trace_id}/interventions`
    const unknown = await at.on.post(at.caller, path, { edits: [{ node_id: '9_0_0' }] }, headers)
    expect(unknown.json.code).toBe('idempotency_key_reused')
    const { trace_id: other } = await infer()
    expect((await intervene(other, 0, headers)).json.code).toBe('idempotency_key_reused')
  })

  it('of ten with one key at once counts once', async () => {
    at.caller = await at.on.makeCaller({ environment: 'live' })
    const { trace_id } = await infer()
    const before = await count()
    const made = await Promise.all(Array.from({ length: 10 }, () => intervene(trace_id, 0, headers)))
    expect(made.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    const refused = made.filter(({ status }) => status !== 200).map(({ json }) => json.code)
    expect([...new Set(refused)].filter((code) => code !== 'idempotency_in_progress')).toEqual([])
    expect((await count()) - before).toBe(1)
  })

  it('is repeated at the cap of the month, and another one is refused', async () => {
    at.caller = await at.on.makeCaller({ environment: 'live', plan: 'developer' })
    const { trace_id } = await infer()
    const first = await intervene(trace_id, 0, headers)
    await at.on.service.test.owner(
      `INSERT INTO usage_days (account_id, environment, day, operation, units)
       VALUES ($1, 'live', (now() AT TIME ZONE 'UTC')::date, 'inference', 1000)`,
      [at.caller.accountId],
    )
    const before = await count()
    // What is used is read once a second.
    await until(async () => (await intervene(trace_id, 1e6)).json.code === 'monthly_cap_exceeded')
    expect((await intervene(trace_id, 0)).json.code).toBe('monthly_cap_exceeded')
    expect((await intervene(trace_id, 2, headers)).json.code).toBe('idempotency_key_reused')
    expect((await intervene(trace_id, 0, headers)).json).toEqual(first.json)
    expect(await count()).toBe(before)
  })
})
