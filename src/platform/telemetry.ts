// Sends traces to a collector (OTLP over HTTP), when one is configured. Otherwise OpenTelemetry's implementation is not
// loaded. A collector that is away, slow or full costs spans, never a request: spans wait in a bounded queue and are
// dropped. Spans are our own: automatic instrumentation of http, pg or BullMQ costs on every query, records addresses and
// statements, and hangs the jobs of one `addBulk` on one span, although each belongs to another request.

import { hostname } from 'node:os'
import type { Log } from './log.ts'
import { switchTracing } from './trace.ts'

export interface Telemetry {
  /** Sends the remaining spans, for at most this long. */
  close(deadlineMs: number): Promise<void>
}

interface TelemetryOptions {
  /** The collector's base address, as in OTEL_EXPORTER_OTLP_ENDPOINT; undefined disables tracing. */
  endpoint: string | undefined
  /** Share of traces that are recorded, 0 to 1. */
  ratio: number
  /** The process's name in the Procfile. */
  process: string
  log: Log
}

// About 2 kB each: at most 8 MB of memory, and half a second of a busy process.
const MAX_SPANS = 4_096
const SEND_EVERY_MS = 1_000
const SEND_TIMEOUT_MS = 5_000
// OpenTelemetry complains once per export; an outage must not flood the log.
const COMPLAIN_EVERY_MS = 60_000

export async function startTelemetry({ endpoint, ratio, process, log }: TelemetryOptions): Promise<Telemetry> {
  if (endpoint === undefined) return { close: async () => {} }
  const [{ context, diag, DiagLogLevel, trace }, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-proto'),
      import('@opentelemetry/resources'),
    ])
  const complain = createComplaints(log)
  const silent = () => {}
  diag.setLogger(
    { error: complain, warn: complain, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: SEND_TIMEOUT_MS,
  })
  const byRatio = new sdk.TraceIdRatioBasedSampler(ratio)
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.namespace': 'countersign',
      'service.name': `countersign-${process}`,
      'service.instance.id': `${hostname()}:${globalThis.process.pid}`,
    }),
    // A caller's "not sampled" flag is ignored. The trace id alone decides, so that a trace is recorded whole or not at
    // all.
    sampler: new sdk.ParentBasedSampler({ root: byRatio, remoteParentSampled: byRatio }),
    spanLimits: { attributeCountLimit: 64, attributeValueLengthLimit: 256 },
    spanProcessors: [
      new sdk.BatchSpanProcessor(exporter, {
        maxQueueSize: MAX_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_TIMEOUT_MS,
      }),
    ],
  })
  // No propagator: only trace.ts propagates context.
  provider.register({ propagator: null })
  switchTracing(true)
  return {
    async close(deadlineMs) {
      const flushed = provider.shutdown().catch((error: unknown) => complain(String(error)))
      await Promise.race([flushed, new Promise((done) => setTimeout(done, deadlineMs).unref())])
      for (const api of [trace, context, diag]) api.disable()
      switchTracing(false)
    },
  }
}

function createComplaints(log: Log): (message: string) => void {
  let lastAt = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (message) => {
    unsaid += 1
    if (performance.now() - lastAt < COMPLAIN_EVERY_MS) return
    log.warn({ reason: message.slice(0, 500), times: unsaid }, 'traces could not be sent')
    lastAt = performance.now()
    unsaid = 0
  }
}
