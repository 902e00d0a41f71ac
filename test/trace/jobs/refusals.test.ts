// What a request for an attribution job or an intervention is refused for, with the field that is wrong.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Checking, startChecking } from '../service.ts'

const MESSAGES = [
  { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
  { role: 'user', content: 'What do lamps cost at Cobalt Tools?' },
]

let on: Checking
let caller: TestCaller
beforeAll(async () => {
  on = await startChecking()
  caller = await on.makeCaller()
})
afterAll(() => on?.close())

const infer = async (retain: 'text' | 'hash' = 'text') => {
  const { json } = await on.post(caller, '/v1/trace/inferences', { messages: MESSAGES, max_tokens: 4, retain })
  return { id: String(json.trace_id), promptTokens: (json.usage as { prompt_tokens: number }).prompt_tokens }
}
const intervene = async (traceId: string, body: Record<string, unknown>) => {
  const { status, json } = await on.post(caller, `/v1/trace/traces/${traceId}/interventions`, body)
  return { status, errors: (json.errors as { pointer: string; code: string }[] | undefined) ?? [] }
}
const found = ({ errors }: Awaited<ReturnType<typeof intervene>>) => errors.map(({ pointer, code }) => [pointer, code])

it('an intervention names each neuron that the text has not, also where its input is brought again', async () => {
  const [kept, hashed] = [await infer(), await infer('hash')]
  const edits = (...ids: string[]) => ids.map((node_id) => ({ node_id }))
  const last = `0_0_${kept.promptTokens}`
  for (const [trace, more] of [
    [kept, {}],
    [hashed, { input: { messages: MESSAGES } }],
  ] as const) {
    const wrong = await intervene(trace.id, { edits: edits('0_0_0', '9_1_1', '1_999_1', last), ...more })
    expect([wrong.status, found(wrong)]).toEqual([
      400,
      [1, 2, 3].map((index) => [`/edits/${index}/node_id`, 'out_of_range']),
    ])
    // One token later, the position is there.
    expect(await intervene(trace.id, { edits: edits(last), target: { position: 1 }, ...more })).toMatchObject({
      status: 200,
    })
  }
})

it('a token that the model does not know is refused at once, with the highest that it knows', async () => {
  const { id } = await infer()
  const job = (token: number) =>
    on.post(caller, '/v1/trace/jobs', { trace_id: id, max_feature_nodes: 8, target: { token } })
  const { status, json } = await job(900_000)
  expect([status, json.code, json.errors]).toMatchObject([
    400,
    'invalid_request',
    [{ pointer: '/target/token', code: 'out_of_range' }],
  ])
  const highest = Number(/at most (\d+)/.exec(JSON.stringify(json.errors))?.[1])
  expect((await job(highest + 1)).status).toBe(400)
  expect((await job(highest)).status).toBe(202)
  const rows = await on.service.test.owner('SELECT FROM trace_jobs WHERE trace_id = $1', [id])
  expect(rows).toHaveLength(1)
})

it('an intervention names a neuron that is edited twice, in any spelling', async () => {
  const { id } = await infer()
  for (const again of ['1_77_3', '01_077_3']) {
    const twice = await intervene(id, { edits: [{ node_id: '1_77_3' }, { node_id: '0_0_0' }, { node_id: again }] })
    expect([twice.status, found(twice)]).toEqual([400, [['/edits/2/node_id', 'duplicate']]])
  }
})

it('an input is compared with the trace also where its text is kept', async () => {
  const { id } = await infer()
  const other = { input: { prompt: 'Something else' } }
  const own = { input: { messages: MESSAGES } }
  const job = (body: object) => on.post(caller, '/v1/trace/jobs', { trace_id: id, max_feature_nodes: 8, ...body })
  const edits = [{ node_id: '0_0_0' }]
  const mismatch = [['/input', 'mismatch']]
  const refused = await job(other)
  expect(refused).toMatchObject({ status: 400, json: { errors: [{ pointer: '/input', code: 'mismatch' }] } })
  expect(found(await intervene(id, { edits, ...other }))).toEqual(mismatch)
  expect((await job(own)).status).toBe(202)
  expect((await intervene(id, { edits, ...own })).status).toBe(200)
  const [row] = await on.service.test.owner('SELECT sealed_input FROM trace_jobs WHERE trace_id = $1', [id])
  expect(row).toEqual({ sealed_input: null })
})

it('a number that no double holds is refused with the largest that one holds, and no string is asked for', async () => {
  const { key } = caller
  const body = `{"trace_id":"${(await infer()).id}","max_feature_nodes":100000000000000000000}`
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
  const answer = await fetch(`${on.service.app.url}/v1/trace/jobs`, { method: 'POST', headers, body })
  const { code, errors } = (await answer.json()) as { code: string; errors: { detail: string }[] }
  expect([answer.status, code]).toEqual([400, 'invalid_json'])
  expect(errors).toMatchObject([{ pointer: '/max_feature_nodes', code: 'number_out_of_range' }])
  expect(errors[0]?.detail).toContain(`at most ${Number.MAX_SAFE_INTEGER}`)
})
