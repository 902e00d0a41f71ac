// A service with the tiny model, and what tests of attribution jobs and of interventions ask of it.

import pino from 'pino'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { createTraceWork, type TraceWorkDeps } from '#src/trace/jobs/work.ts'
import { createModels, type Models } from '#src/trace/models/models.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import type { TestServiceOptions } from '../../support/service.ts'
import { type Checking, startChecking } from '../service.ts'

export const MESSAGES = [
  { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
  { role: 'user', content: 'What do lamps cost at Cobalt Tools?' },
  { role: 'tool', content: 'Cobalt Tools: lamps, 812.00 EUR, delivery 2026-11-21.' },
]
const SETTINGS = {
  TRACE_MODELS: [] as string[],
  TRACE_MODEL_KEYS: [] as string[],
  TRACE_CONTEXT_TOKENS: 512,
  TRACE_MODEL_MEGABYTES: 1_000,
  TRACE_ACCELERATOR: 'none' as 'none' | 'onnxruntime',
  TRACE_PROCESS_MEGABYTES: 1_600,
  TRACE_LIMIT_SECONDS: 120,
  TRACE_IDLE_SECONDS: 600,
  TRACE_QUEUE_DEPTH: 100,
  TRACE_QUEUE_DEPTH_EACH: 100,
}

/** Starts the service before the tests of a file, and makes a caller for each. */
export function useAttributions(options: TestServiceOptions = {}) {
  const processes: Models[] = []
  const at = {} as { on: Checking; jobs: Jobs<'trace'>; models: Models; caller: TestCaller }

  beforeAll(async () => {
    at.on = await startChecking(options)
    at.jobs = createJobs(at.on.service.test, 'trace')
    at.models = startModels()
  })
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.close()))
    await at.on?.close()
  })
  beforeEach(async () => {
    at.caller = await at.on.makeCaller()
  })

  function startModels(settings: Partial<typeof SETTINGS> = {}): Models {
    const models = createModels({ log: pino({ level: 'silent' }) }, { ...SETTINGS, ...settings })
    processes.push(models)
    return models
  }

  const makeWork = (deps: Partial<TraceWorkDeps> = {}) =>
    createTraceWork({ ...at.on.service.services.platform, models: at.models, ...deps })
  const infer = async (body: Record<string, unknown> = {}) => {
    const sent = { messages: MESSAGES, retain: 'text', ...body }
    return (await at.on.post(at.caller, '/v1/trace/inferences', sent)).json
  }
  const request = (body: Record<string, unknown>, headers: Record<string, string> = {}, as = at.caller) =>
    at.on.post(as, '/v1/trace/jobs', { max_feature_nodes: 64, ...body }, headers)
  const read = (id: unknown, as = at.caller) => at.on.get(as, `/v1/trace/jobs/${id}`)
  const manifestOf = (id: unknown, query = '') =>
    fetch(`${at.on.service.app.url}/v1/trace/jobs/${id}/manifest${query}`, {
      headers: { Authorization: `Bearer ${at.caller.key}` },
    })
  const queued = async (id: unknown) => {
    const [row] = await at.on.service.test.owner<{ job: string }>(
      'SELECT queue_job_id AS job FROM trace_jobs WHERE id = $1',
      [id],
    )
    return row?.job ?? ''
  }
  const run = async (id: unknown, work = makeWork()) => at.jobs.run(await at.jobs.take(await queued(id)), work)
  const start = async (body: Record<string, unknown> = {}) => {
    const trace = await infer()
    const { status, json } = await request({ trace_id: trace.trace_id, ...body })
    expect([status, json.state]).toEqual([202, 'queued'])
    return json
  }

  return { at, startModels, makeWork, infer, request, read, manifestOf, queued, run, start }
}
