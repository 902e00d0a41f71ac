// Calls to models that run elsewhere, at addresses of the operator. What they answer is as foreign as a request: bounded in size and
// time, checked in its shape, and never shown where it is an error.

import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Log } from '#src/platform/log.ts'
import { parseRetryAfter } from '#src/platform/net/exchange.ts'
import { OPERATOR, type Outbound } from '#src/platform/net/outbound.ts'
import { type CallOptions, type ModelVersion, queueFull, versionIdOf } from './backend.ts'
import type { RemoteModel } from './config.ts'

export interface RemoteDeps {
  outbound: Pick<Outbound, 'send'>
  log: Pick<Log, 'warn'>
  /** For its owner alone: it is sent to this model's address only. */
  key: string | undefined
  timeoutMs: number
  /** Requests at once, of all accounts and of one; as many may wait. */
  maxAtOnce: number
  maxAtOnceEach: number
}

export interface RemoteCall {
  url: string
  headers?: Record<string, string>
  /** Without one it is a GET. */
  body?: Json
  maxBytes: number
}

const MAX_DEPTH = 32
const RETRY_AFTER_SECONDS = { least: 1, usual: 30, most: 3_600 }

/**
 * Version of a model whose file this deployment does not have: the hash is of its address and name, and says nothing of
 * its weights. Sizes that are not known are 0.
 */
export function remoteVersion(id: string, { kind, address, model }: RemoteModel, hasChat: boolean): ModelVersion {
  const sha256 = sha256Hex(JSON.stringify([kind, address, model]))
  const unknown = { layers: 0, width: 0, mlp: 0, vocabulary: 0, contextTokens: 0 }
  return { id: versionIdOf(id, sha256), model: id, sha256, architecture: 'unknown', hasChat, ...unknown }
}

/** Calls the servers of one model. @throws {Failure} `invalid_request`, `service_unavailable`. */
export function createRemoteCalls(id: string, deps: RemoteDeps) {
  const { outbound, log, key, timeoutMs, maxAtOnce, maxAtOnceEach } = deps
  const withSlot = createFairSemaphore({
    slots: maxAtOnce,
    slotsEach: maxAtOnceEach,
    maxWaiting: maxAtOnce,
    maxWaitingEach: maxAtOnceEach,
    refusal: queueFull(id),
  })

  function unavailable(detail: string, reason: string, retryAfterSeconds = RETRY_AFTER_SECONDS.usual): Failure {
    log.warn({ model: id, reason }, 'the server of a model failed')
    return new Failure('service_unavailable', { detail, headers: { 'Retry-After': String(retryAfterSeconds) } })
  }

  async function send(
    call: RemoteCall,
    authorization: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { url, body, headers = {}, maxBytes } = call
    const answer = await outbound.send({
      account: OPERATOR,
      url,
      // The rules of live apply: https and public addresses, unless the operator allows a loopback one.
      environment: url.startsWith('http:') ? 'sandbox' : 'live',
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'user-agent': 'Countersign-Trace/1',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
        ...authorization,
      },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      timeoutMs,
      maxResponseBytes: maxBytes,
      ...(signal && { signal }),
    })
    const noAnswer = `The server of the model ${id} gave no usable answer.`
    if (!answer.ok) throw unavailable(noAnswer, answer.code)
    const { status } = answer
    if (status === 400 || status === 413 || status === 422) {
      // Its words are its own: they may name what callers must not see.
      throw new Failure('invalid_request', `The server of the model ${id} refused the request (status ${status}).`)
    }
    if (status === 429 || status === 503) {
      const askedMs = parseRetryAfter(answer.headers.get('retry-after'), new Date())
      const { least, usual, most } = RETRY_AFTER_SECONDS
      const seconds = askedMs === undefined ? usual : Math.min(most, Math.max(least, Math.ceil(askedMs / 1_000)))
      throw unavailable(`The server of the model ${id} is busy.`, `status ${status}`, seconds)
    }
    if (status !== 200) throw unavailable(noAnswer, `status ${status}`)
    if (answer.isTruncated) throw unavailable(noAnswer, `more than ${maxBytes} bytes`)
    try {
      return parseJson(answer.body, { maxBytes, maxDepth: MAX_DEPTH })
    } catch {
      throw unavailable(noAnswer, 'no JSON')
    }
  }

  return {
    key,

    /** The JSON of a success. `authorization` goes to the operator's address alone. */
    call<Shape extends z.ZodType>(
      shape: Shape,
      call: RemoteCall,
      { signal, lane = '', authorization = {} }: CallOptions & { authorization?: Record<string, string> },
    ): Promise<z.output<Shape>> {
      return withSlot(lane, async () => {
        const parsed = shape.safeParse(await send(call, authorization, signal))
        if (parsed.success) return parsed.data
        const [issue] = parsed.error.issues
        throw unavailable(
          `The server of the model ${id} gave no usable answer.`,
          `no valid ${issue?.path[0]?.toString() ?? 'shape'}`,
        )
      })
    },
  }
}

export type RemoteCalls = ReturnType<typeof createRemoteCalls>

export const remoteCount = z.number().int().min(0).max(1e9)
