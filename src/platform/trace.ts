// Spans, through OpenTelemetry's interface alone. telemetry.ts loads the implementation, and only when tracing is on.
// Until then each function here runs its work and does nothing else.

import {
  type Attributes,
  context,
  INVALID_SPAN_CONTEXT,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import type { LogSubject } from '#src/catalogue/log-fields.ts'

export interface SpanSpec {
  name: string
  kind?: 'server' | 'client' | 'producer' | 'consumer'
  /** Ids, names and numbers; never text that a caller sent. */
  attributes?: Attributes
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
let tracer = trace.getTracer('countersign')
let isOn = false

/** Called by telemetry.ts when the implementation is loaded, and when it is closed. */
export function switchTracing(on: boolean): void {
  isOn = on
  tracer = trace.getTracer('countersign')
}

/** The span of a request, a child of the span that its W3C traceparent names. */
export function inServerSpan<R>(
  traceparent: string | undefined,
  describe: () => SpanSpec,
  work: (span: Span) => Promise<R>,
): Promise<R> {
  if (!isOn) return work(NO_SPAN)
  const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent)
  const around = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
  return run(start(describe(), around), work)
}

/** A child of the current span; none where nothing is recorded. */
export function inSpan<R>(describe: () => SpanSpec, work: (span: Span) => Promise<R>): Promise<R> {
  if (!isOn || trace.getActiveSpan()?.isRecording() !== true) return work(NO_SPAN)
  return run(start(describe(), context.active()), work)
}

/** A child of another process's span, which a row or a ticket names; none where it names none. */
export function inSpanOf<R>(
  traceparent: string | undefined,
  describe: () => SpanSpec,
  work: (span: Span) => Promise<R>,
): Promise<R> {
  const parent = !isOn || traceparent === undefined ? undefined : parseTraceparent(traceparent)
  if (parent === undefined) return work(NO_SPAN)
  return run(start(describe(), trace.setSpanContext(ROOT_CONTEXT, parent)), work)
}

/**
 * A span that the caller ends, a child of the span that a row names. `isOneOfMany`: the span starts a trace of its own
 * that links to that span, because one trace of ten thousand jobs is unreadable.
 */
export function startSpanOf(
  traceparent: string | null,
  describe: () => SpanSpec,
  { isOneOfMany }: { isOneOfMany: boolean },
): Span | undefined {
  const parent = !isOn || traceparent === null ? undefined : parseTraceparent(traceparent)
  if (parent === undefined) return undefined
  if (isOneOfMany) return start(describe(), ROOT_CONTEXT, [{ context: parent }])
  return start(describe(), trace.setSpanContext(ROOT_CONTEXT, parent))
}

/**
 * A span's traceparent in the form of W3C Trace Context; undefined when it is not recorded. The current span by
 * default.
 */
export function traceparentOf(span: Span | undefined = isOn ? trace.getActiveSpan() : undefined): string | undefined {
  return span?.isRecording() === true ? formatTraceparent(span.spanContext()) : undefined
}

/** `traceresponse` of an answer: the trace that its request became part of, recorded or not. */
export function traceresponseOf(span: Span): string | undefined {
  return isOn ? formatTraceparent(span.spanContext()) : undefined
}

/** Ids of the current span for log lines. */
export function currentSpanIds(): { trace_id: string; span_id: string } | undefined {
  const active = isOn ? trace.getActiveSpan()?.spanContext() : undefined
  return active && { trace_id: active.traceId, span_id: active.spanId }
}

export function describeSpan(subject: LogSubject): void {
  const span = isOn ? trace.getActiveSpan() : undefined
  if (span?.isRecording() === true) span.setAttributes(attributesOf(subject))
}

/** Under the field names of log lines. */
export function attributesOf(subject: LogSubject): Attributes {
  return Object.fromEntries(Object.entries(subject).map(([name, value]) => [`countersign.${name}`, value]))
}

/** Marks a span as failed with a word from a closed list: error messages may contain private data. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
}

export function untraced<R>(work: () => R): R {
  return isOn ? context.with(ROOT_CONTEXT, work) : work()
}

function start({ name, kind, attributes = {} }: SpanSpec, around: typeof ROOT_CONTEXT, links: Link[] = []): Span {
  return tracer.startSpan(
    name,
    { kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind], attributes, links },
    around,
  )
}

async function run<R>(span: Span, work: (span: Span) => Promise<R>): Promise<R> {
  try {
    return await context.with(trace.setSpan(ROOT_CONTEXT, span), () => work(span))
  } catch (error) {
    failSpan(span, error instanceof Error ? error.name : 'unknown')
    throw error
  } finally {
    span.end()
  }
}

// W3C Trace Context 3.2. A version above 00 may continue after a hyphen. A malformed one counts as absent.
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Exported for tests. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags = '', more] = text.length > 512 ? [] : (TRACEPARENT.exec(text) ?? [])
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED }
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')}`
}
