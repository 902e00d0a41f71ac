import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '#src/platform/log.ts'
import { startTelemetry } from '#src/platform/telemetry.ts'
import { inServerSpan, inSpan, inSpanOf, parseTraceparent, traceparentOf } from '#src/platform/trace.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const silent = createLog({ process: 'test', level: 'silent' })

describe('a traceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`00-${TRACE}-${SPAN}-ff`, 1],
    [`01-${TRACE}-${SPAN}-01-what-comes-later`, 1],
  ])('is parsed: %s', (text, traceFlags) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags })
  })

  it.each([
    '',
    'x',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`,
  ])('that is malformed counts as absent: %.60s', (text) => {
    expect(parseTraceparent(text)).toBeUndefined()
  })
})

describe('a process without a collector', () => {
  it('loads nothing of the implementation, and runs the work alone', () => {
    const script = `
      const { createRequire } = await import('node:module')
      const { startTelemetry } = await import('./src/platform/telemetry.ts')
      const { inServerSpan, traceparentOf } = await import('./src/platform/trace.ts')
      await import('./src/process.ts')
      await startTelemetry({ endpoint: undefined, ratio: 1, process: 'x', log: null })
      const named = await inServerSpan(undefined, () => { throw new Error('described') }, async () => traceparentOf())
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /opentelemetry/.test(path))
      console.log(JSON.stringify({ named: named ?? null, loaded: loaded.filter((path) => !/opentelemetry.api.build/.test(path)) }))
      process.exit(0)`
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, encoding: 'utf8' })
    expect(JSON.parse(out)).toEqual({ named: null, loaded: [] })
  })
})

describe('the recorded traces', () => {
  let collector: Collector | undefined
  afterEach(() => collector?.close())

  // One after the other: the implementation exists once per process.
  async function record(ratio: number, work: () => Promise<unknown>): Promise<string[]> {
    collector = await startCollector()
    const telemetry = await startTelemetry({ endpoint: `${collector.url}/`, ratio, process: 'test', log: silent })
    await work()
    await telemetry.close(5_000)
    return collector.spans.map(({ name }) => name)
  }
  const request = (traceparent?: string) =>
    inServerSpan(
      traceparent,
      () => ({ name: 'request' }),
      async () => {},
    )

  it('are a share by trace id, follow a caller who opts out, and ignore a caller who forces them', async () => {
    const asked = `00-${TRACE}-${SPAN}-01`
    const declined = `00-${TRACE}-${SPAN}-00`
    expect(await record(1, () => Promise.all([request(), request(asked)]))).toEqual(['request', 'request'])
    expect(await record(1, () => request(declined))).toEqual([])
    expect(await record(0, () => Promise.all([request(), request(asked)]))).toEqual([])
  })

  it('have a span for work within a request or job, and none for work outside', async () => {
    const names = await record(1, async () => {
      await inSpan(
        () => ({ name: 'alone' }),
        async () => {},
      )
      const row = await inServerSpan(
        undefined,
        () => ({ name: 'request' }),
        async () => traceparentOf(),
      )
      await inSpanOf(
        row,
        () => ({ name: 'job' }),
        () =>
          inSpan(
            () => ({ name: 'step' }),
            async () => {},
          ),
      )
      await inSpanOf(
        undefined,
        () => ({ name: 'job of nobody' }),
        async () => {},
      )
    })
    expect(names.sort()).toEqual(['job', 'request', 'step'])
  })
})

describe('an unavailable collector', () => {
  it.each(['is away', 'takes everything and never answers'])(
    'delays no request, and no exit of a process: it %s',
    { timeout: 60_000 },
    async (fault) => {
      const collector = await startFaulty(fault)
      const said: string[] = []
      const system = await startSystem({
        engine: 'postgres',
        only: ['web'],
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
        onLog: (text) => void said.push(text),
      })
      try {
        const times: number[] = []
        for (let count = 0; count < 300; count += 1) {
          const startedAt = performance.now()
          const response = await fetch(`${system.baseUrl}/v1/claims`, { headers: { 'x-api-key': system.key } })
          await response.text()
          expect(response.status).toBe(200)
          times.push(performance.now() - startedAt)
        }
        expect(Math.max(...times)).toBeLessThan(5_000)
        const complaints = () => said.filter((text) => text.includes('traces could not be sent')).length
        if (fault === 'is away') await until(() => complaints() > 0)
        const child = system.supervisor.children.get('web')
        const startedAt = performance.now()
        await system.supervisor.stop()
        // The drain of an idle web process, and the three seconds that a flush may take.
        expect(performance.now() - startedAt).toBeLessThan(9_500)
        expect(child?.exitCode).toBe(0)
        expect(complaints()).toBeLessThan(2)
      } finally {
        await system.close()
        await collector.close()
      }
    },
  )
})

async function startFaulty(fault: string): Promise<{ url: string; close(): Promise<void> }> {
  const collector = await startCollector({ isHanging: true })
  if (fault !== 'is away') return collector
  await collector.close()
  return { url: collector.url, close: async () => {} }
}
