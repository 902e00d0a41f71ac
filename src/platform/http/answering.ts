// What surrounds every request: its id, its span, its metrics, the answer to an error, and the sending.

import type { Span } from '@opentelemetry/api'
import type { Context } from 'koa'
import type { Failure } from '#src/failure.ts'
import { within } from '#src/platform/context.ts'
import { newAccountId } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import type { Metrics } from '#src/platform/metrics.ts'
import { attributesOf, failSpan, inServerSpan, traceresponseOf } from '#src/platform/trace.ts'
import type { Answer } from './endpoint.ts'
import { represent } from './represent.ts'
import { commonHeaders, type ErrorForm, echoOf, formatted, toFailure } from './respond.ts'
import { send } from './send.ts'

/** The path of requests that no route answers: the paths that strangers request are unbounded. */
export const UNMATCHED = 'unmatched'

interface AnsweringDeps {
  /** The API's public address, without a trailing slash. */
  baseUrl: string
  log: Log
  metrics: Metrics
}

/** @param headers It adds what its answer must carry whatever comes of it. */
type Produce = (requestId: string, headers: Record<string, string>) => Promise<Answer>

interface Routed {
  /** The route's, as declared, or UNMATCHED. */
  path: string
  requestId: string
  produce: Produce
  form: ErrorForm | undefined
}

/**
 * Answers one request with what `produce` returns or throws. `path` is the route's, as declared, or UNMATCHED. `form`: the form
 * of errors, that of problems when absent.
 */
export type AnswerWith = (ctx: Context, path: string, produce: Produce, form?: ErrorForm) => Promise<void>

export function createAnswering({ baseUrl, log, metrics }: AnsweringDeps): AnswerWith {
  const isSecure = baseUrl.startsWith('https:')
  const logRefusal = createRefusalLog(log)
  return (ctx, path, produce, form) => {
    const subject = { requestId: newAccountId('req'), route: `${ctx.method} ${path}` }
    const describe = () => ({
      // The route's path as declared. The paths that strangers request are unbounded, so they name no span.
      name: path === UNMATCHED ? ctx.method : subject.route,
      kind: 'server' as const,
      attributes: { 'http.request.method': ctx.method, 'http.route': path, ...attributesOf(subject) },
    })
    return within(subject, () =>
      inServerSpan(ctx.get('traceparent'), describe, (span) =>
        answer(ctx, span, { path, requestId: subject.requestId, produce, form }),
      ),
    )
  }

  async function answer(ctx: Context, span: Span, { path, requestId, produce, form }: Routed): Promise<void> {
    const { req, res } = ctx
    const startedAt = performance.now()
    const traceresponse = traceresponseOf(span)
    const common = { ...commonHeaders(requestId, { path: ctx.path, isSecure }), ...echoOf(ctx.get('x-request-id')) }
    const finish = async (answer: Answer) => {
      answer.headers = { ...common, ...answer.headers }
      if (traceresponse !== undefined) answer.headers.traceresponse = traceresponse
      return send(req, res, await represent(req, answer))
    }
    const refuse = (error: unknown): Answer => {
      const failure = toFailure(error)
      logRefusal(failure)
      span.setAttribute('countersign.code', failure.code)
      return formatted(failure, form, { baseUrl, requestId, headers: req.headers })
    }
    // The client left. An error that the handler then throws is not ours, and the answer has no reader.
    const leave = (error: unknown): Answer => {
      log.debug({ err: error }, 'the client disconnected before its answer')
      return { status: 499, headers: {}, text: '' }
    }
    // Koa's own respond supports neither early answers to unfinished uploads nor streams that break.
    ctx.respond = false
    try {
      await finish(
        await produce(requestId, common).catch((error: unknown) =>
          req.socket.destroyed ? leave(error) : refuse(error),
        ),
      )
    } catch (error) {
      const problem = refuse(error)
      if (res.headersSent) res.destroy()
      else await finish(problem)
    } finally {
      // 499: the client left before its answer (nginx's number, which dashboards know).
      const status = res.headersSent ? res.statusCode : 499
      const seconds = (performance.now() - startedAt) / 1000
      metrics.observeRequest(ctx.method, path, status, seconds)
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) failSpan(span, String(status))
      if (log.isLevelEnabled('debug')) log.debug({ status, seconds }, 'answered')
    }
  }
}

// Lines of one code a second. A client that repeats what is refused must not fill the disk: 51,000 answers of 429 made 13 MB.
const MAX_REFUSAL_LINES = 10
const REFUSAL_PERIOD_MS = 1_000

/** Logs refusals: of one code at most ten a second, and then how many were left out. What failed on our side is always logged. */
function createRefusalLog(log: Log, now: () => number = () => performance.now()): (failure: Failure) => void {
  const periods = new Map<string, { since: number; lines: number; leftOut: number }>()
  return (failure) => {
    const { code, status } = failure
    if (code === 'internal_error') return log.error({ code, status, err: failure.cause }, 'internal error')
    if (status >= 500) return log.warn({ code, status, err: failure.cause }, 'unavailable')
    let period = periods.get(code)
    if (period === undefined || now() - period.since >= REFUSAL_PERIOD_MS) {
      if (period !== undefined && period.leftOut > 0)
        log.info({ code, status, times: period.leftOut }, 'more requests were refused than are logged')
      period = { since: now(), lines: 0, leftOut: 0 }
      periods.set(code, period)
    }
    if (period.lines < MAX_REFUSAL_LINES) {
      period.lines += 1
      log.info({ code, status }, 'request refused')
    } else period.leftOut += 1
  }
}
