// The scenarios that every library runs, with both clients of Python.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { EXCEPTIONS } from '../../../clients/exceptions.ts'
import { readDocument } from '../../../clients/generate/document.ts'
import { readApi, sdkOf } from '../../../clients/generate/operations.ts'
import { exampleOf, lineExampleOf } from '../../support/examples.ts'
import { describePythons, type PythonTask, startPython } from '../../support/python.ts'
import { type ScriptedAnswer, startScripted } from '../../support/scripted.ts'

interface Scenario {
  id: string
  title: string
  call: 'read' | 'change' | 'once' | 'list' | 'lines' | 'array' | 'stream'
  answers: ScriptedAnswer[]
  options?: { random?: number; timeoutMs?: number; maxRetries?: number; idempotencyKey?: string }
  abort?: 'before' | 'sent' | 'waiting'
  expect: {
    outcome: string
    attempts: number
    delaysMs: number[]
    code?: string
    status?: number
    requestId?: string
    retryAfterMs?: number
    errors?: string[]
    items?: number
    cursors?: string[]
    key?: string
    sameKey?: true
    sameBody?: true
    noKey?: true
  }
}

const FILE = join(import.meta.dirname, '../../../clients/scenarios.json')
const { scenarios } = JSON.parse(readFileSync(FILE, 'utf8')) as { scenarios: Scenario[] }
const API_KEY = 'svc_test_S3cretS3cretS3cretS3cretS3cretS3'
const SECOND_MS = 1_000
// All scenarios of a client run beside each other: a request must have arrived before its time is over.
const LEAST_TIMEOUT_MS = 3_000

const document = await readDocument()
const { operations } = readApi(document, EXCEPTIONS)
const LINE = { external_id: 'e1', claim: { reference: 'r' } }

const CALLS: Record<Exclude<Scenario['call'], 'once'>, { sdk: string; task: Partial<PythonTask> }> = {
  read: { sdk: 'account.retrieve', task: {} },
  change: { sdk: 'cases.notes.create', task: { args: ['case_test_1'], kwargs: { note: 'x' } } },
  list: { sdk: 'claims.list', task: { iterates: true } },
  lines: { sdk: 'claims.batches.results', task: { args: ['bat_test_1'] } },
  array: { sdk: 'claims.batches.create', task: { args: [[LINE]] } },
  stream: { sdk: 'claims.batches.create', task: { stream: [LINE] } },
}

// The table says of an answer only what matters. Here answers are read into models, so that they must be whole.
function whole(answer: ScriptedAnswer, call: keyof typeof CALLS): ScriptedAnswer {
  const operation = operations.find((one) => sdkOf(one) === CALLS[call].sdk)
  const { status = 0, json, text } = answer
  if (operation === undefined || status >= 300) return answer
  if (call === 'lines') {
    const line = (found: string) => JSON.stringify({ ...lineExampleOf(document, operation), ...JSON.parse(found) })
    const lines = (text ?? '').replaceAll(/\{"line":\d+\}/g, line)
    return {
      ...answer,
      text: lines,
      ...(answer.declaredBytes && { declaredBytes: answer.declaredBytes + lines.length }),
    }
  }
  if (json === undefined) return answer
  const example = exampleOf(document, operation) as { data?: object[] }
  const { data, ...given } = json as { data?: object[] }
  const items = data?.map((item) => ({ ...example.data?.[0], ...item }))
  return { ...answer, json: { ...example, ...given, ...(items && { data: items }) } }
}

describePythons('a bad day of the service', (python) => {
  const driver = startPython(python)
  afterAll(() => driver.close())

  // A thread that waits for an answer can't be told to end.
  const flavours = [
    ['sync', scenarios.filter(({ abort }) => abort === undefined)],
    ['async', scenarios],
  ] as const
  describe.each(flavours)('%s', (flavour, all) => {
    const cases = all.filter((scenario) => scenario.call !== 'once')
    it.concurrent.each(cases)('$id: $title', async ({ call, answers, options = {}, abort, expect: wanted }) => {
      if (call === 'once') throw new Error('the library has no such call')
      const server = await startScripted(
        answers.map((answer) => whole(answer, call)),
        () => {
          if (abort === 'sent') running.cancel()
        },
      )
      const { sdk, task } = CALLS[call]
      const { timeoutMs, maxRetries, idempotencyKey, random } = options
      const running = driver.run({
        ...task,
        flavour,
        op: sdk.split('.'),
        kwargs: { ...task.kwargs, ...(idempotencyKey && { idempotency_key: idempotencyKey }) },
        abort,
        options: {
          api_key: API_KEY,
          base_url: server.url,
          ...(timeoutMs && { timeout: Math.max(timeoutMs, LEAST_TIMEOUT_MS) / SECOND_MS }),
          ...(maxRetries !== undefined && { max_retries: maxRetries }),
          ...(random !== undefined && { random }),
        },
      })
      const answered = await running.outcome
      await server.close()

      const outcome = answered.outcome.replace(/Error$/, '')
      expect(outcome).toEqual(wanted.outcome === 'failed' ? expect.not.stringMatching(/^ok$/) : wanted.outcome)
      const delaysMs = answered.delays.map((delay) => delay * SECOND_MS)
      expect({ attempts: server.arrived.length, delaysMs }).toEqual({
        attempts: wanted.attempts,
        delaysMs: wanted.delaysMs,
      })
      const { code, status, requestId, retryAfterMs, errors, items } = wanted
      if (code !== undefined) expect(answered.code).toBe(code)
      if (status !== undefined) expect(answered.status).toBe(status)
      if (requestId !== undefined) expect(answered.request_id).toBe(requestId)
      if (retryAfterMs !== undefined) expect(answered.retry_after).toBe(retryAfterMs / SECOND_MS)
      if (errors !== undefined) expect(answered.errors).toEqual(errors)
      if (items !== undefined) expect(answered.items).toBe(items)
      const cursors = server.arrived.map(({ url }) => new URL(url, server.url).searchParams.get('cursor') ?? '')
      if (wanted.cursors !== undefined) expect(cursors).toEqual(wanted.cursors)
      const keys = new Set(server.arrived.map(({ headers }) => headers['idempotency-key']))
      if (wanted.noKey) expect([...keys]).toEqual([undefined])
      if (wanted.key !== undefined) expect([...keys]).toEqual([wanted.key])
      if (wanted.sameKey) expect([...keys]).toEqual([expect.stringMatching(/^.{16,255}$/)])
      if (wanted.sameBody) expect(new Set(server.arrived.map(({ body }) => body)).size).toBe(1)
      for (const { headers } of server.arrived) expect(headers.authorization).toBe(`Bearer ${API_KEY}`)
      expect(JSON.stringify(answered)).not.toContain(API_KEY)
    })
  })
})
