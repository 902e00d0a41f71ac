// Exported decoders over HTTP: traced inferences, attribution jobs and interventions, and what they can not do.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTraceWork } from '#src/trace/jobs/work.ts'
import { GREEDY } from '#src/trace/llama/sampling.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { createDecoderFolder, EXPORTED } from '../../support/onnx.ts'
import { type Checking, startChecking } from '../service.ts'

const MESSAGES = [
  { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
  { role: 'user', content: 'What do lamps cost at Cobalt Tools?' },
  { role: 'tool', content: 'Cobalt Tools: lamps, 812.00 EUR, delivery 2026-11-21.' },
]

const folder = createDecoderFolder()
// The output matrix is no constant any more: a form that is not known.
const hidden = folder.change((graph) => ({
  ...graph,
  nodes: graph.nodes.flatMap((node) => {
    if (!node.outputs.includes('logits')) return [node]
    const added = {
      name: 'last',
      operator: 'Add',
      domain: '',
      inputs: ['plain', 'plain'],
      outputs: ['logits'],
      attributes: [],
    }
    return [{ ...node, outputs: ['plain'] }, added]
  }),
}))
const broken = folder.write(readFileSync(EXPORTED.dynamo).subarray(0, 5_000))

let on: Checking
let jobs: Jobs<'trace'>
let caller: TestCaller
beforeAll(async () => {
  const models = [`tiny-onnx=${EXPORTED.dynamo}`, `hidden=${hidden}`, `broken=${broken}`, 'countersign-tiny']
  on = await startChecking({ env: { TRACE_MODELS: models.join(',') } })
  jobs = createJobs(on.service.test, 'trace')
  caller = await on.makeCaller()
})
afterAll(async () => {
  await on?.close()
  folder.close()
})

const infer = async (body: object = {}) =>
  (await on.post(caller, '/v1/trace/inferences', { messages: MESSAGES, max_tokens: 8, retain: 'text', ...body })).json
const refused = async (path: string, body: object) => {
  const { status, json } = await on.post(caller, path, body)
  return { status, code: json.code, capability: json.capability }
}
const missing = (capability: string) => ({ status: 422, code: 'backend_capability_missing', capability })

async function finish(body: object) {
  const { json: job } = await on.post(caller, '/v1/trace/jobs', { max_feature_nodes: 24, ...body })
  return runJob(job.job_id)
}

async function runJob(id: unknown) {
  const [row] = await on.service.test.owner<{ job: string }>(
    'SELECT queue_job_id AS job FROM trace_jobs WHERE id = $1',
    [id],
  )
  const { models } = on.service.services.trace.models
  await jobs.run(await jobs.take(row?.job ?? ''), createTraceWork({ ...on.service.services.platform, models }))
  return on.get(caller, `/v1/trace/jobs/${id}`)
}

describe('exported decoders', () => {
  it('are listed with what each can do by the form of its graph; a broken one is unusable', async () => {
    const { data } = await on.get(caller, '/v1/trace/models')
    const common = { generate: true, canary: 'none', deterministic: true }
    expect(data).toMatchObject([
      {
        model: 'tiny-onnx',
        backend: 'onnx',
        usable: true,
        capabilities: { ...common, activations: true, attribution: 'ablation', intervene: true },
        version: {
          architecture: 'onnx',
          layers: 3,
          width: 128,
          mlp: 352,
          vocabulary: 1_027,
          context_tokens: 512,
          chat: true,
        },
        probe_set: null,
      },
      {
        model: 'hidden',
        usable: true,
        capabilities: { ...common, activations: false, attribution: 'none', intervene: false },
        version: { layers: 0, vocabulary: 1_027 },
      },
      { model: 'broken', backend: 'onnx', usable: false, version: null },
      { model: 'countersign-tiny', backend: 'embedded' },
    ])
    expect(JSON.stringify(data)).not.toContain(folder.root)
  })

  it('complete conversations as the same weights in a GGUF file do, without readings, and the trace can be repeated', async () => {
    const [made, own] = [await infer({ model: 'tiny-onnx' }), await infer({ model: 'countersign-tiny' })]
    expect(made).toMatchObject({
      completion: own.completion,
      usage: own.usage,
      canary: null,
      model_version_id: expect.stringMatching(/^tiny-onnx@[0-9a-f]{16}$/),
    })
    const query = 'tokens?lens=3&limit=4'
    const [page, ownPage] = [
      await on.get(caller, `/v1/trace/traces/${made.trace_id}/${query}`),
      await on.get(caller, `/v1/trace/traces/${own.trace_id}/${query}`),
    ]
    const seen = (one: typeof page) =>
      (one.data as { text: string; lens: { text: string }[][] }[]).map(({ text, lens }) => ({
        text,
        lens: lens.map((layer) => layer.map((token) => token.text)),
      }))
    expect(seen(page)).toEqual(seen(ownPage))
    const headers = { 'Idempotency-Key': 'onnx-1' }
    const body = { model: 'tiny-onnx', messages: MESSAGES, max_tokens: 5 }
    const first = await on.post(caller, '/v1/trace/inferences', body, headers)
    const again = await on.post(caller, '/v1/trace/inferences', body, headers)
    expect(again.json).toMatchObject({ trace_id: first.json.trace_id, completion: first.json.completion })
  })

  it('refuse what they can not do', async () => {
    const inference = { model: 'tiny-onnx', messages: MESSAGES }
    expect(await refused('/v1/trace/inferences', { ...inference, canary_set: 'default-v1' })).toEqual(missing('canary'))
    const diff = { base_model: 'tiny-onnx', target_model: 'countersign-tiny' }
    expect(await refused('/v1/trace/diffs', diff)).toEqual(missing('canary'))
    expect(await refused('/v1/trace/models/tiny-onnx/graphs', { prompt: 'a' })).toEqual(missing('attribution'))
    const other = await infer({ model: 'hidden' })
    const tokens = `/v1/trace/traces/${other.trace_id}/tokens`
    expect((await on.get(caller, tokens)).data).toContainEqual(expect.objectContaining({ text: expect.any(String) }))
    expect((await on.get(caller, `${tokens}?lens=2&limit=4`)).code).toBe('backend_capability_missing')
    const edits = { edits: [{ node_id: '1_77_12', factor: 0 }] }
    expect(await refused(`/v1/trace/traces/${other.trace_id}/interventions`, edits)).toEqual(missing('intervene'))
    const { models } = on.service.services.trace.models
    // Not over HTTP: the client of the tests would wait and ask again.
    const prompt = { input: { text: 'Harbor' }, maxTokens: 1, sampling: GREEDY }
    await expect(models.get('broken').generate(prompt)).rejects.toMatchObject({ code: 'service_unavailable' })
    const backend = models.get('tiny-onnx')
    const request = { ...prompt, internals: { residuals: true } }
    await expect(backend.generate(request)).rejects.toMatchObject({ code: 'backend_capability_missing' })
  })

  it('refuse every inference under a kill switch that blocks: nothing has read it', async () => {
    const other = await on.makeCaller()
    await on.setKillSwitch(other, { mode: 'block' })
    const { status, json } = await on.post(other, '/v1/trace/inferences', { model: 'tiny-onnx', messages: MESSAGES })
    expect({ status, code: json.code, capability: json.capability }).toEqual(missing('canary'))
  })
})

describe('an attribution job', () => {
  it('of an exported decoder makes a manifest: measured effects, and direct parts that add up', async () => {
    const { trace_id } = await infer({ model: 'tiny-onnx' })
    const job = await finish({ trace_id, method: 'ablation' })
    expect(job).toMatchObject({ status: 'succeeded', method: 'ablation' })
    expect(job.result).toMatchObject({ sum_check: null, replacement_score: null, completeness_score: null })
    const manifest = await on.get(caller, `/v1/trace/jobs/${job.job_id}/manifest`)
    const { svc } = manifest.metadata as { svc: Record<string, unknown> }
    expect(svc).toMatchObject({
      backend: 'onnx',
      method: 'ablation',
      is_approximate: true,
      frozen: ['final norm'],
      sum_check: null,
      canary: null,
      direct: { sum_check: { max_abs_error: expect.any(Number) } },
    })
    const { sum_check: check, rows } = svc.direct as {
      sum_check: { max_abs_error: number; rows: number }
      rows: { logit: number; embedding: number; attention: number[]; mlp: number[]; constant: number }[]
    }
    expect(check.max_abs_error).toBeLessThan(1e-4)
    expect(check.rows).toBe(rows.length)
    for (const { logit, embedding, attention, mlp, constant } of rows) {
      expect([embedding, constant, ...attention, ...mlp].reduce((sum, part) => sum + part, 0)).toBeCloseTo(logit, 3)
    }
    const neurons = (manifest.nodes as Record<string, unknown>[]).filter(
      ({ feature_type }) => feature_type === 'mlp neuron',
    )
    expect(neurons.length).toBeGreaterThan(4)
    for (const neuron of neurons)
      expect([neuron.effect, neuron.direct_effect]).toEqual([expect.any(Number), expect.any(Number)])
    const shown = { edits: neurons.slice(0, 2).map(({ node_id }) => ({ node_id, factor: 0 })) }
    const { status, json } = await on.post(caller, `/v1/trace/traces/${trace_id}/interventions`, shown)
    expect({ status, tokens: (json.tokens as unknown[])?.length > 0 }).toEqual({ status: 200, tokens: true })
  })

  it('is refused with the methods that the model has: exact graphs of an exported decoder, and any of one that shows nothing', async () => {
    const { trace_id } = await infer({ model: 'tiny-onnx' })
    for (const body of [{ trace_id }, { trace_id, method: 'grad_x_act' }]) {
      expect(await on.post(caller, '/v1/trace/jobs', body)).toMatchObject({
        status: 422,
        json: {
          code: 'backend_capability_missing',
          capability: 'attribution',
          errors: [{ pointer: '/method', detail: 'must be one of: ablation' }],
        },
      })
    }
    const other = await infer({ model: 'hidden' })
    const body = { trace_id: other.trace_id, method: 'ablation' }
    expect(await refused('/v1/trace/jobs', body)).toEqual(missing('attribution'))
    expect((await on.get(caller, '/v1/trace/jobs?status=queued')).data).toEqual([])
  })

  it('is accepted where its model can not be asked, and fails with the methods when it can', async () => {
    const { trace_id } = await infer({ model: 'tiny-onnx' })
    const replaced = async (version: string, work: () => Promise<void>) => {
      const [{ was } = { was: '' }] = await on.service.test.owner<{ was: string }>(
        'SELECT model_version_id AS was FROM traces WHERE id = $1',
        [trace_id],
      )
      const write = 'UPDATE traces SET model_version_id = $2 WHERE id = $1'
      await on.service.test.owner(write, [trace_id, version])
      await work()
      await on.service.test.owner(write, [trace_id, was])
      return was
    }
    let id: unknown
    const was = await replaced('gone@0123456789abcdef', async () => {
      const { status, json } = await on.post(caller, '/v1/trace/jobs', { trace_id })
      expect(status).toBe(202)
      id = json.job_id
    })
    await on.service.test.owner('UPDATE trace_jobs SET model_version_id = $2 WHERE id = $1', [id, was])
    const { status, failure } = await runJob(id)
    expect([status, failure]).toEqual([
      'failed',
      { code: 'backend_capability_missing', detail: expect.stringContaining('ablation') },
    ])
  })

  it('names the neurons that an exported decoder has not', async () => {
    const { trace_id } = await infer({ model: 'tiny-onnx' })
    const edits = ['3_0_0', '0_352_0', '0_0_0', '0_0_999'].map((node_id) => ({ node_id }))
    const { json } = await on.post(caller, `/v1/trace/traces/${trace_id}/interventions`, { edits })
    expect(json.errors).toMatchObject([0, 1, 3].map((index) => ({ pointer: `/edits/${index}/node_id` })))
  })
})
