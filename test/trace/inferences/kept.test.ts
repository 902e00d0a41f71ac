// What is kept of an inference with its texts: until when, and after the file of its model was replaced.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS, limitOf } from '#src/platform/retention.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Checking, startChecking } from '../service.ts'

const PROMPT = { prompt: 'What do lamps cost?', retain: 'text', max_tokens: 12 }

let on: Checking

beforeAll(async () => {
  on = await startChecking({ env: { TRACE_MODELS: 'countersign-tiny' } })
})
afterAll(() => on?.close())

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
