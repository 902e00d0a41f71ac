// What is kept of an inference with its texts: until when, and after the file of its model was replaced.

import { readFileSync, renameSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS, limitOf } from '#src/platform/retention.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createModelFolder } from '../../support/gguf.ts'
import { TINY } from '../../support/models.ts'
import { until } from '../../support/until.ts'
import { type Checking, startChecking } from '../service.ts'

const PROMPT = { prompt: 'What do lamps cost?', retain: 'text', max_tokens: 12 }

const folder = createModelFolder()
const mine = folder.write('mine.gguf', readFileSync(TINY))
let on: Checking

beforeAll(async () => {
  on = await startChecking({ env: { TRACE_MODELS: `countersign-tiny,mine=${mine}`, TRACE_IDLE_SECONDS: '1' } })
})
afterAll(async () => {
  await on?.close()
  folder.close()
})

const infer = async (caller: TestCaller, body: Record<string, unknown> = {}) =>
  (await on.post(caller, '/v1/trace/inferences', { ...PROMPT, ...body })).json

describe('text_until', () => {
  const untilOf = async (caller: TestCaller) => {
    const trace = await on.get(caller, `/v1/trace/traces/${(await infer(caller)).trace_id}`)
    const { text_until: until } = trace.inference as { text_until: string }
    const { data } = await on.get(caller, '/v1/trace/traces')
    expect((data as { inference: unknown }[])[0]?.inference).toEqual(trace.inference)
    return { until: new Date(until), days: (Date.parse(until) - Date.parse(String(trace.created_at))) / DAY_MS }
  }

  it('is when the trace goes, in the sandbox after 7 days', async () => {
    const caller = await on.makeCaller()
    const { until, days } = await untilOf(caller)
    expect(days).toBe(7)
    const rule = on.service.services.features
      .flatMap(({ retention = [] }) => retention)
      .find(({ what }) => what === 'traces')
    if (rule?.per !== 'tenant') throw new Error('there is no rule for traces')
    const purge = (at: number) => {
      const before = limitOf(rule, { environment: 'sandbox', isPublic: false }, new Date(at))
      return rule.purge(caller, before ?? new Date(at), AbortSignal.abort())
    }
    expect([await purge(until.getTime()), await purge(until.getTime() + 1)]).toEqual([0, 1])
  })

  it('is 30 days later where the plan keeps traces for as long or longer', async () => {
    for (const plan of ['developer', 'growth'] as const) {
      expect((await untilOf(await on.makeCaller({ environment: 'live', plan }))).days).toBe(30)
    }
  })
})

describe('the tokens of a completion', () => {
  it('have their texts after the file of the model was replaced; a lens needs the model', async () => {
    const caller = await on.makeCaller()
    const tokens = async ({ trace_id }: Record<string, unknown>, query = '') =>
      (await on.service.call(caller, `/v1/trace/traces/${trace_id}/tokens?limit=20${query}`)).json
    const dataOf = async (made: Record<string, unknown>) =>
      (await tokens(made)).data as { token: number | null; text: string | null }[]
    const made = await infer(caller, { model: 'mine' })
    const bare = await infer(caller, { model: 'mine', retain: 'hash' })
    const before = await dataOf(made)
    expect(before.map(({ text }) => text).join('')).toBe(made.completion)

    renameSync(folder.write('other.gguf', Buffer.concat([readFileSync(TINY), Buffer.alloc(32)])), mine)
    const { models } = on.service.services.trace.models
    await until(async () => (await models.get('mine').modelVersion()).id !== made.model_version_id)
    expect(await dataOf(made)).toEqual(before)
    expect((await tokens(made, '&lens=1')).code).toBe('not_found')
    expect((await dataOf(bare)).map(({ token, text }) => [token, text])).toEqual(before.map(() => [null, null]))
  })
})
