// Models elsewhere, each on a real server of the test that speaks its documented shapes and can misbehave.

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TraceBackend } from '#src/trace/models/backend.ts'
import { parseModelEntries, parseModelKeys } from '#src/trace/models/config.ts'
import type { TestCaller } from '../../support/callers.ts'
import { return503 } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'

interface Asked {
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}
type Answer = (response: ServerResponse, asked: Asked) => void

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof value === 'string' ? value : JSON.stringify(value))
  }
const chat = (more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Lamps cost 40 EUR.', refusal: null },
      logprobs: {
        content: ['Lamps', ' cost', ' 40', ' EUR.'].map((token) => ({
          token,
          logprob: -0.25,
          bytes: null,
          top_logprobs: [],
        })),
        refusal: null,
      },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 },
  ...more,
})
const graph = {
  metadata: { slug: 's', scan: 'gemma-2-2b', prompt: 'a b', prompt_tokens: ['a', ' b'], schema_version: 1 },
  qParams: { linkType: 'both' },
  nodes: [
    { node_id: '1_2_0', feature: 5, layer: '1', ctx_idx: 0, feature_type: 'cross layer transcoder', jsNodeId: 'x' },
    { node_id: '27_9_1', feature: 9, layer: '27', ctx_idx: 1, feature_type: 'logit', token_prob: 0.5 },
  ],
  links: [{ source: '1_2_0', target: '27_9_1', weight: 1.5 }],
}
const generated = (origin: string) => ({
  message: 'Graph saved to database',
  s3url: `${origin}/bucket/graph.json`,
  url: 'https://neuronpedia.org/gemma-2-2b/graph?slug=s',
  numNodes: 2,
  numLinks: 1,
})

let server: Server
let origin: string
let on: TestService
let caller: TestCaller
let asked: Asked[] = []
let answer: Answer = json(chat())

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString()
    const one = { path: request.url ?? '', headers: request.headers, body: text === '' ? {} : JSON.parse(text) }
    asked.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  on = await startTestService({
    scopes: ['all'],
    env: {
      OUTBOUND_ALLOW: '127.0.0.1',
      TRACE_LIMIT_SECONDS: '1',
      TRACE_MODELS: `countersign-tiny,gpt=openai+${origin}/v1#gpt-4o-mini,graphs=neuronpedia+${origin}#gemma-2-2b`,
      TRACE_MODEL_KEYS: 'gpt=sk-secret-of-gpt,graphs=secret-of-neuronpedia',
    },
  })
  caller = await on.makeCaller()
})
beforeEach(() => {
  asked = []
  answer = json(chat())
})
afterAll(async () => {
  await on?.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const messages = [{ role: 'user', content: 'What do lamps cost?' }] as const
const backend = (id: string): TraceBackend => on.services.trace.models.models.get(id)
const sampling = { temperature: 0.5, topK: 0, topP: 0.9, seed: 7 }
const request = { input: { messages }, maxTokens: 8, sampling }
const infer = (body: object) =>
  on.call(caller, '/v1/trace/inferences', { method: 'POST', json: { model: 'gpt', messages, ...body } })
async function failureOf(made: Promise<unknown>) {
  const error = await made.then(
    () => ({ code: 'none', message: '' }),
    (thrown: { code: string; message: string; headers: Record<string, string> }) => thrown,
  )
  return error
}

describe('a model behind an OpenAI-compatible server', () => {
  it('answers a traced inference, without readings, and its key goes to its own address', async () => {
    const { status, json: made } = await infer({ max_tokens: 8, temperature: 0.5, seed: 7 })
    expect({ status, made }).toMatchObject({
      status: 200,
      made: {
        completion: 'Lamps cost 40 EUR.',
        finish_reason: 'stop',
        usage: { prompt_tokens: 21, completion_tokens: 4 },
        model_version_id: expect.stringMatching(/^gpt@[0-9a-f]{16}$/),
        canary: null,
      },
    })
    expect(asked).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: 'Bearer sk-secret-of-gpt' },
        body: { model: 'gpt-4o-mini', messages, max_tokens: 8, temperature: 0.5, seed: 7, logprobs: true },
      },
    ])
    expect(asked[0]?.body).not.toHaveProperty('top_k')
  })

  it('keeps the probabilities of its tokens, whose texts nobody knows', async () => {
    for (const retain of ['hash', 'text']) {
      const { json: made } = await infer({ retain })
      const path = `/v1/trace/traces/${made.trace_id}/tokens`
      const { status, json: page } = await on.call(caller, path)
      expect([status, (page.data as object[])?.length]).toEqual([200, 4])
      expect((page.data as object[])[0]).toMatchObject({ log_probability: -0.25, token: null, text: null, lens: null })
      const lens = await on.call(caller, `${path}?lens=2&limit=4`)
      expect(lens.json.code).toBe(retain === 'hash' ? 'conflict' : 'backend_capability_missing')
    }
  })

  const pays = (made: string) => ({ name: 'pay', arguments: made })
  it.each<{ it: string; choice: object; hashed: string; says?: string; calls?: object[]; ends: string }>([
    {
      it: 'calls tools',
      choice: {
        message: {
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: pays('{"amount": 5}') },
            { id: 'call_2', type: 'custom', custom: { name: 'run', input: 'ls' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
      hashed:
        '{"content":"","tool_calls":[{"arguments":"{\\"amount\\": 5}","name":"pay"},{"arguments":"ls","name":"run"}]}',
      calls: [pays('{"amount": 5}'), { name: 'run', arguments: 'ls' }],
      ends: 'tool_calls',
    },
    {
      it: 'says something, calls a tool and says stop',
      choice: {
        message: { content: 'I pay.', tool_calls: [{ id: 'x', function: pays('{') }] },
        finish_reason: 'stop',
      },
      hashed: '{"content":"I pay.","tool_calls":[{"arguments":"{","name":"pay"}]}',
      says: 'I pay.',
      calls: [pays('{')],
      ends: 'tool_calls',
    },
    {
      it: 'calls a function as servers once did',
      choice: { message: { content: null, function_call: pays('{}') }, finish_reason: 'function_call' },
      hashed: '{"content":"","tool_calls":[{"arguments":"{}","name":"pay"}]}',
      calls: [pays('{}')],
      ends: 'tool_calls',
    },
    {
      it: 'is cut off in a call',
      choice: { message: { content: '', tool_calls: [{ function: pays('{"am') }] }, finish_reason: 'length' },
      hashed: '{"content":"","tool_calls":[{"arguments":"{\\"am","name":"pay"}]}',
      calls: [pays('{"am')],
      ends: 'length',
    },
    {
      it: 'refuses',
      choice: { message: { content: null, refusal: 'I can’t help with that.' }, finish_reason: 'stop' },
      hashed: 'I can’t help with that.',
      says: 'I can’t help with that.',
      ends: 'refusal',
    },
    {
      it: 'is filtered',
      choice: { message: { content: null }, finish_reason: 'content_filter' },
      hashed: '',
      ends: 'content_filter',
    },
  ])('records what it did when it $it', async ({ choice, hashed, says = '', calls, ends }) => {
    answer = json(chat({ choices: [{ index: 0, logprobs: null, ...choice }] }))
    const { status, json: made } = await infer({ retain: 'text' })
    expect([status, made.completion, made.finish_reason, made.tool_calls]).toEqual([200, says, ends, calls])
    const { json: trace } = await on.call(caller, `/v1/trace/traces/${made.trace_id}`)
    expect(trace.inference).toMatchObject({
      finish_reason: ends,
      completion_hash: createHash('sha256').update(hashed).digest('base64url'),
    })
    const { json: listed } = await on.call(caller, `/v1/trace/traces?finish_reason=${ends}&limit=1`)
    expect((listed.data as { trace_id: string }[])[0]?.trace_id).toBe(made.trace_id)
    const { json: texts } = await on.call(caller, `/v1/trace/traces/${made.trace_id}/texts`)
    expect(texts).toMatchObject({ input: { messages }, completion: says, finish_reason: ends })
    expect(texts.tool_calls).toEqual(calls)
  })

  it('says of a completed text that it was filtered', async () => {
    answer = json({
      choices: [{ index: 0, text: 'Well', logprobs: null, finish_reason: 'content_filter' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    })
    const result = await backend('gpt').generate({ ...request, input: { text: 'Hello' } })
    expect(result).toMatchObject({ text: 'Well', finishReason: 'content_filter' })
  })

  it('is not asked again for an intervention, which it can not make', async () => {
    const { json: made } = await infer({})
    asked = []
    const refused = await on.call(caller, `/v1/trace/traces/${made.trace_id}/interventions`, {
      method: 'POST',
      json: { edits: [{ node_id: '0_0_0' }], input: { messages } },
    })
    expect([refused.status, refused.json.code]).toEqual([422, 'backend_capability_missing'])
    expect(asked).toEqual([])
  })

  it('completes a text, and gives its probabilities', async () => {
    answer = json({
      object: 'text_completion',
      choices: [
        { index: 0, text: ' world', logprobs: { tokens: [' world'], token_logprobs: [-0.5] }, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    })
    const result = await backend('gpt').generate({ ...request, input: { text: 'Hello' } })
    expect(result).toMatchObject({ text: ' world', logProbabilities: [-0.5], finishReason: 'length', tokens: [] })
    expect(asked[0]).toMatchObject({ path: '/v1/completions', body: { prompt: 'Hello' } })
  })

  it('has no canary, so a request for readings and a kill switch that blocks are refused before it is asked', async () => {
    const refused = await infer({ canary_set: 'default-v1' })
    expect([refused.status, refused.json.code, refused.json.capability]).toEqual([
      422,
      'backend_capability_missing',
      'canary',
    ])
    const strict = await on.makeCaller()
    const json = { document: { mode: 'block' } }
    await on.call(strict, '/v1/trace/kill-switch', { method: 'PUT', json, headers: { 'If-Match': '*' } })
    const denied = await on.call(strict, '/v1/trace/inferences', { method: 'POST', json: { model: 'gpt', messages } })
    expect([denied.status, denied.json.code]).toEqual([422, 'backend_capability_missing'])
    for (const operation of ['lens', 'evaluate', 'vocabulary'] as const) {
      expect((await failureOf(backend('gpt').call(operation, {} as never))).code).toBe('backend_capability_missing')
    }
    const diff = { base_model: 'countersign-tiny', target_model: 'gpt' }
    expect((await on.call(caller, '/v1/trace/diffs', { method: 'POST', json: diff })).status).toBe(422)
    expect(asked).toEqual([])
  })

  it('is not asked again for a repeat: another call would cost, and give another text', async () => {
    const once = () =>
      on.call(caller, '/v1/trace/inferences', {
        method: 'POST',
        headers: { 'idempotency-key': 'again' },
        json: { model: 'gpt', messages },
      })
    const first = await once()
    const second = await once()
    expect(second.json.trace_id).toBe(first.json.trace_id)
    expect([first.json.completion, second.json.completion]).toEqual(['Lamps cost 40 EUR.', null])
    expect(asked).toHaveLength(1)
  })

  it.each<[string, string, Answer]>([
    ['refuses the request', 'invalid_request', json({ error: { message: 'SECRET prompt of another' } }, 400)],
    ['does not know the key', 'service_unavailable', json({ error: { message: 'SECRET key' } }, 401)],
    ['does not have the model', 'service_unavailable', json({ error: {} }, 404)],
    ['fails', 'service_unavailable', json('SECRET stack', 500)],
    ['redirects', 'service_unavailable', json({}, 302, { location: 'http://169.254.169.254/' })],
    ['answers no JSON', 'service_unavailable', json('<html>SECRET</html>')],
    ['answers half of it', 'service_unavailable', json(JSON.stringify(chat()).slice(0, 90))],
    ['answers one name twice', 'service_unavailable', json('{"choices":[],"choices":[1]}')],
    ['has no choice', 'service_unavailable', json(chat({ choices: [] }))],
    [
      'calls what nobody knows',
      'service_unavailable',
      json(chat({ choices: [{ message: { content: null, tool_calls: [{ type: 'other' }] }, finish_reason: 'stop' }] })),
    ],
    ['does not say how many tokens it made', 'service_unavailable', json(chat({ usage: null }))],
    [
      'counts in negative numbers',
      'service_unavailable',
      json(chat({ usage: { prompt_tokens: -1, completion_tokens: 1 } })),
    ],
    ['sends too much', 'service_unavailable', json(chat({ padding: 'x'.repeat(1_100_000) }))],
    ['is nested deeply', 'service_unavailable', json(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
    ['never ends', 'service_unavailable', (response) => void response.writeHead(200).write('{"choices"')],
    ['closes', 'service_unavailable', (response) => void response.destroy()],
  ])('is unusable when its server %s, and none of its words get out', async (_, code, made) => {
    answer = made
    const failure = await failureOf(backend('gpt').generate(request))
    expect(failure.code).toBe(code)
    expect(JSON.stringify(failure) + failure.message).not.toContain('SECRET')
  })

  it('passes on when to come again, within bounds', async () => {
    for (const [sent, expected] of [
      ['7', '7'],
      ['999999', '3600'],
      ['soon', '30'],
    ] as const) {
      answer = json({}, 429, { 'retry-after': sent })
      const failure = await failureOf(backend('gpt').generate(request))
      expect(failure).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': expected } })
    }
  })

  it('has a bounded number of requests at once and of waiting ones, of one account fewer', async () => {
    const waiting: ServerResponse[] = []
    answer = (response) => waiting.push(response)
    const all = Array.from({ length: 44 }, () => failureOf(backend('gpt').generate(request, { lane: 'one' })))
    // 20 of an account run and 20 wait: those beyond are refused at once; another account still gets through.
    const refused = { code: 'service_unavailable', headers: { 'Retry-After': '2' } }
    expect(await Promise.all(all.slice(40))).toMatchObject(Array(4).fill(refused))
    const other = failureOf(backend('gpt').generate(request, { lane: 'two' }))
    await expect.poll(() => waiting.length).toBe(21)
    answer = json(chat())
    for (const response of waiting) json(chat())(response, { path: '', headers: {}, body: {} })
    expect(new Set((await Promise.all([...all.slice(0, 40), other])).map(({ code }) => code))).toEqual(
      new Set(['none']),
    )
  })
})

describe('a model elsewhere whose requests are those of few accounts', () => {
  return503()

  it('is reached by an account that comes while five others have all requests, and all that wait', async () => {
    let held = 0
    // The server answers the newcomer alone; the requests of the others end by their limit of time.
    answer = (response, one) => {
      if (one.body.max_tokens === 9) json(chat())(response, one)
      else held += 1
    }
    const attackers = Array.from({ length: 5 * 40 }, (_, index) =>
      failureOf(backend('gpt').generate(request, { lane: `attackers ${index % 5}` })),
    )
    await expect.poll(() => held).toBeGreaterThanOrEqual(100)
    expect((await infer({ max_tokens: 9 })).status).toBe(200)
    await Promise.all(attackers)
  })
})

describe('a model at Neuronpedia', () => {
  const made = (more: object = {}): Answer => {
    const whole = JSON.stringify({ ...graph, ...more })
    return (response, one) => json(one.path === '/api/graph/generate' ? generated(origin) : whole)(response, one)
  }
  const draw = (prompt = 'The capital of France is') =>
    on.call(caller, '/v1/trace/models/graphs/graphs', { method: 'POST', json: { prompt } })

  it('gives graphs as they came, called what they are, and its key only to its own address', async () => {
    answer = made()
    const { status, json: drawn } = await draw()
    expect({ status, drawn }).toEqual({
      status: 200,
      drawn: { source: 'neuronpedia', model: 'gemma-2-2b', exact: false, graph },
    })
    expect(asked).toMatchObject([
      {
        path: '/api/graph/generate',
        headers: { 'x-api-key': 'secret-of-neuronpedia' },
        body: {
          modelId: 'gemma-2-2b',
          prompt: 'The capital of France is',
          slug: expect.stringMatching(/^[a-z0-9_-]+$/),
        },
      },
      { path: '/bucket/graph.json' },
    ])
    expect(asked[1]?.headers).not.toHaveProperty('x-api-key')
  })

  it('makes one graph of an account at once, and few of all: the largest fill the memory', async () => {
    const waiting: ServerResponse[] = []
    answer = (response) => waiting.push(response)
    const make = (lane: string) => failureOf(backend('graphs').graph?.({ prompt: 'x' }, { lane }) ?? Promise.resolve())
    const first = ['a', 'b', 'c', 'd', 'a'].map(make)
    expect(await make('a')).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '2' } })
    // Sixteen accounts wait; of these, none has more than one.
    const others = Array.from({ length: 15 }, (_, index) => make(`e${index}`))
    expect(await make('f')).toMatchObject({ code: 'service_unavailable' })
    await expect.poll(() => waiting.length).toBe(4)
    answer = made()
    for (const response of waiting) response.destroy()
    const codes = (await Promise.all([...first, ...others])).map(({ code }) => code)
    expect(codes).toEqual([...Array(4).fill('service_unavailable'), ...Array(16).fill('none')])
  })

  it('does nothing else, and other models make no graphs', async () => {
    const failures = [
      await failureOf(backend('graphs').generate(request)),
      await failureOf(backend('graphs').call('render', { input: { text: 'x' } })),
    ]
    expect(failures.map(({ code }) => code)).toEqual(Array(2).fill('backend_capability_missing'))
    const other = await on.call(caller, '/v1/trace/models/gpt/graphs', { method: 'POST', json: { prompt: 'x' } })
    expect([other.status, other.json.code]).toEqual([422, 'backend_capability_missing'])
    expect(asked).toEqual([])
  })

  it.each<[string, () => Answer]>([
    ['names an address that is not public', () => json({ ...generated('http://10.0.0.7'), numNodes: 1 })],
    ['names a file', () => json({ ...generated(origin), s3url: 'file:///etc/passwd' })],
    ['names no address', () => json({ message: 'Graph saved to database' })],
    ['is busy', () => json({ error: 'GPUs Busy', message: 'SECRET' }, 503)],
    ['makes a graph without nodes', () => made({ nodes: undefined })],
    ['links what is not there', () => made({ links: [{ source: '1_2_0', target: 'gone', weight: 1 }] })],
    ['writes a weight as a text', () => made({ links: [{ source: '1_2_0', target: '27_9_1', weight: '1' }] })],
  ])('is unusable when it %s', async (_, prepared) => {
    answer = prepared()
    const failure = await failureOf(backend('graphs').graph?.({ prompt: 'x' }) ?? Promise.resolve())
    expect(failure).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': expect.any(String) } })
    expect(JSON.stringify(failure) + failure.message).not.toContain('SECRET')
  })
})

describe('the configuration', () => {
  it.each([
    'gpt=openai+ftp://host/v1#m',
    'gpt=openai+https://host/v1',
    'gpt=openai+https://user:secret@host/v1#m',
    'gpt=openai+https://host/v1?key=secret#m',
    'gpt=openai+https://host/v1#m n',
    'gpt=gopher+https://host#m',
  ])('refuses the model %s', (entry) => {
    expect(() => parseModelEntries([entry])).toThrow()
  })

  it('reads keys, and its refusals name none', () => {
    expect(parseModelKeys(['gpt=a=b'])).toEqual(new Map([['gpt', 'a=b']]))
    for (const entry of ['=secret', 'GPT 4=secret', 'gpt=', 'gpt=sec ret', 'gpt=secret\r\nx: y']) {
      expect(() => parseModelKeys([entry])).toThrow(/^entry 1: must be name=key$/)
    }
  })
})
