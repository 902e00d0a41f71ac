// Interventions with the tiny model: what they measure, and how they count.

import { describe, expect, it } from 'vitest'
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

  it('counts as an inference in live, once for an Idempotency-Key and body', async () => {
    at.caller = await at.on.makeCaller({ environment: 'live' })
    const { trace_id } = await infer()
    const path = `/v1/trace/traces/${trace_id}/interventions`
    const count = async () =>
      (await at.on.service.test.owner('SELECT FROM usage_entries WHERE account_id = $1', [at.caller.accountId])).length
    const before = await count()
    const headers = { 'Idempotency-Key': 'one' }
    for (const [factor, more, expected] of [
      [0, headers, 1],
      [0, headers, 1],
      [2, headers, 2],
      [0, {}, 3],
      [0, {}, 4],
      [1e6, {}, 4],
    ] as const) {
      await at.on.post(at.caller, path, { edits: [{ node_id: '0_0_0', factor }] }, more)
      expect((await count()) - before).toBe(expected)
    }
  })
})
