// A share of the graph that the tiny model's own attribution gives, from the inference to the view.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { workOf } from '#src/services.ts'
import { kindOf, type Manifest, neuronOf } from '#src/trace/shares/graph.ts'
import { POOL, type SharedGraph } from '#src/trace/shares/mask.ts'
import { createJobs } from '../../support/jobs.ts'
import { type Checking, startChecking } from '../service.ts'

let on: Checking
beforeAll(async () => {
  on = await startChecking()
})
afterAll(() => on.close())

it('a share of a real attribution masks its most influential neurons, keeps its sums, and has no text of it', async () => {
  const caller = await on.makeCaller()
  const messages = [
    { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
    { role: 'user', content: 'Where is Zanzibar?' },
  ]
  const { json: trace } = await on.post(caller, '/v1/trace/inferences', { messages, retain: 'text', max_tokens: 4 })
  const { json: job } = await on.post(caller, '/v1/trace/jobs', {
    trace_id: trace.trace_id,
    max_feature_nodes: 256,
    node_threshold: 1,
    edge_threshold: 1,
  })
  const jobs = createJobs(on.service.test, 'trace')
  await jobs.drain(workOf(on.service.services, 'trace'))
  const manifest = (await on.get(caller, `/v1/trace/jobs/${job.job_id}/manifest`)) as unknown as Manifest
  const { json: share } = await on.post(caller, '/v1/trace/shares', {
    trace_id: trace.trace_id,
    job_id: job.job_id,
    mask_rule: { top_influence: 3 },
    scope_kind: 'model_version',
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  const masked = share.masked_node_ids as string[]
  expect(masked.length).toBeGreaterThanOrEqual(3)
  expect(share.model_version_id).toBe((trace as { model_version_id?: string }).model_version_id)

  const view = await on.service.call({}, '/v1/trace/shares/view', { headers: { 'Share-Token': String(share.token) } })
  const graph = view.json.graph as SharedGraph
  const text = JSON.stringify(view.json)
  expect(view.json.masked_nodes).toBe(masked.length)
  expect(masked.filter((id) => text.includes(`"${id}"`))).toEqual([])
  expect(text).not.toMatch(/Zanzibar|nzib|Output \\"/)
  expect(text).not.toContain('prompt_hash')
  expect(graph.metadata.svc).toMatchObject({ open_rows: [], job_id: job.job_id })
  expect(graph.links.some(({ source }) => source === POOL)).toBe(true)

  // By message: no id has a position of the text, and no number is of one but the last.
  const last = manifest.metadata.prompt_tokens.length - 1
  const columns = graph.metadata.prompt_tokens as string[]
  expect(columns.length).toBeLessThan(4)
  expect(graph.nodes.every(({ ctx_idx }) => ctx_idx < columns.length)).toBe(true)
  expect(view.json.reveals_prompt).toBe(false)
  // Every row has the sum that it had.
  const sums = (links: readonly { target: string; weight: number }[]) => {
    const totals = new Map<string, number>()
    for (const { target, weight } of links) totals.set(target, (totals.get(target) ?? 0) + weight)
    return totals
  }
  const [before, after] = [sums(manifest.links), sums(graph.links)]
  const rows = graph.nodes.filter((node) => kindOf(node) === 'neuron')
  expect(rows.length).toBeGreaterThan(8)
  for (const { node_id: id } of rows) {
    const [was, is] = [before.get(`${neuronOf(id)}_${last}`), after.get(id) ?? 0]
    expect(was).toBeDefined()
    expect(Math.abs(is - (was ?? 0)) / Math.max(1, Math.abs(was ?? 0))).toBeLessThan(0.02)
  }
})
