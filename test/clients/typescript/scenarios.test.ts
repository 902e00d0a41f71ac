// What the library does with answers of a bad day: the table that every language runs.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import * as library from '#client/countersign.ts'
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

const LINE = { externalId: 'e1', claim: { reference: 'r' } } as unknown as library.BatchLine

async function* stream() {
  yield LINE
}

const CALLS: Record<
  Scenario['call'],
  (client: library.Countersign, options: library.CallOptions, take: () => void) => Promise<unknown>
> = {
  read: async (client, options) => client.account.retrieve(options),
  change: async (client, options) => client.cases.notes.create('case_test_1', { note: 'x' }, options),
  once: async (client, options) => client.auth.magicLinks.create({ email: 'a@example.com' }, options),
  array: async (client, options) => client.claims.batches.create([LINE], options),
  stream: async (client, options) => client.claims.batches.create(stream(), options),
  async list(client, options, take) {
    for await (const _claim of client.claims.list({}, options)) take()
  },
  async lines(client, options, take) {
    for await (const _result of client.claims.batches.results('bat_test_1', {}, options)) take()
  },
}

describe('a bad day of the service', () => {
  it.each(scenarios)('$id: $title', async (scenario) => {
    const { call, answers, options = {}, abort, expect: wanted } = scenario
    const controller = new AbortController()
    const server = await startScripted(answers, () => {
      if (abort === 'sent') controller.abort()
    })
    const delaysMs: number[] = []
    const { random = 0.5, idempotencyKey, ...rest } = options
    const client = new library.Countersign({
      apiKey: API_KEY,
      baseUrl: server.url,
      ...rest,
      random: () => random,
      sleep: async (milliseconds) => {
        delaysMs.push(milliseconds)
        if (abort === 'waiting') controller.abort()
      },
    })
    if (abort === 'before') controller.abort()
    let items = 0
    const callOptions = { signal: controller.signal, idempotencyKey }
    const error = await CALLS[call](client, callOptions, () => {
      items += 1
    }).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    await server.close()

    expect(outcomeOf(error)).toEqual(wanted.outcome === 'failed' ? expect.not.stringMatching(/^ok$/) : wanted.outcome)
    expect({ attempts: server.arrived.length, delaysMs }).toEqual({
      attempts: wanted.attempts,
      delaysMs: wanted.delaysMs,
    })
    const failure = error instanceof library.CountersignError ? error : undefined
    const { code, status, requestId, retryAfterMs } = wanted
    expect({ ...failure }).toMatchObject(
      Object.fromEntries(
        Object.entries({ code, status, requestId, retryAfterMs }).filter(([, value]) => value !== undefined),
      ),
    )
    if (wanted.errors !== undefined) {
      expect(failure?.errors.map((one) => `${one.pointer} ${one.code}`)).toEqual(wanted.errors)
    }
    if (wanted.items !== undefined) expect(items).toBe(wanted.items)
    const cursors = server.arrived.map(({ url }) => new URL(url, server.url).searchParams.get('cursor') ?? '')
    if (wanted.cursors !== undefined) expect(cursors).toEqual(wanted.cursors)
    const keys = new Set(server.arrived.map(({ headers }) => headers['idempotency-key']))
    if (wanted.noKey) expect([...keys]).toEqual([undefined])
    if (wanted.key !== undefined) expect([...keys]).toEqual([wanted.key])
    if (wanted.sameKey) expect([...keys]).toEqual([expect.stringMatching(/^.{16,255}$/)])
    if (wanted.sameBody) expect(new Set(server.arrived.map(({ body }) => body)).size).toBe(1)
    for (const { headers } of server.arrived) expect(headers.authorization).toBe(`Bearer ${API_KEY}`)
    // Nothing that a program logs of a failure or of the client shows the key.
    for (const shown of [client, error]) expect(printed(shown)).not.toContain(API_KEY)
  })

  it('has an id for each scenario', () => {
    expect(new Set(scenarios.map(({ id }) => id)).size).toBe(scenarios.length)
  })
})

function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ok'
  if (error instanceof library.CountersignError) return error.name.replace(/Error$/, '')
  return error instanceof DOMException && error.name === 'AbortError' ? 'aborted' : inspect(error)
}

function printed(value: unknown): string {
  const error = value instanceof Error ? `${value.stack} ${value.message} ${String(value)}` : ''
  return `${inspect(value, { depth: 20, showHidden: true, getters: true })} ${JSON.stringify(value)} ${error}`
}
