// Reads events from the service, for as long as it takes: a service that is away is asked again.

import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Envelope } from '#src/account/webhooks/envelope.ts'
import { sentenceOf } from '../sentence.ts'

export type PositionedEnvelope = Envelope & { position: number | null }

interface Page {
  data: PositionedEnvelope[]
  next_after: number
  latest: number
}

interface PullerOptions {
  service: string
  key: string
  signal: AbortSignal
  /** Why the service is asked again; undefined when it answers again. */
  onTrouble(reason: string | undefined): void
}

const WAIT_SECONDS = 25
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
const REPEATABLE = new Set([408, 429, 500, 502, 503, 504])

export function createPuller({ service, key, signal, onTrouble }: PullerOptions) {
  const dispatcher = new Agent({ connections: 1, connect: { timeout: 5_000 }, headersTimeout: 60_000 })

  async function getOnce(path: string): Promise<{ status: number; json: Record<string, unknown>; pauseMs: number }> {
    const { statusCode, headers, body } = await request(`${service}${path}`, {
      dispatcher,
      headers: { authorization: `Bearer ${key}` },
      signal,
    })
    const text = await body.text()
    const pauseMs = Number(headers['retry-after'] ?? 0) * 1_000 || 0
    try {
      return { status: statusCode, json: JSON.parse(text), pauseMs }
    } catch {
      // Another server at this address, or a proxy whose service is away.
      const detail = `${service} answered ${statusCode} without JSON: is it the address of the service?`
      return { status: statusCode, json: { detail }, pauseMs }
    }
  }

  /** @throws where the service refuses, and when the signal is aborted. */
  async function get(path: string): Promise<{ status: number; json: Record<string, unknown> }> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      let askedMs = 0
      try {
        const answer = await getOnce(path)
        if (!REPEATABLE.has(answer.status)) {
          onTrouble(undefined)
          return answer
        }
        askedMs = answer.pauseMs
        onTrouble(`it answers ${answer.status}`)
      } catch (error) {
        signal.throwIfAborted()
        onTrouble(sentenceOf(error))
      }
      await sleep(Math.max(pauseMs, askedMs), undefined, { signal })
    }
  }

  function refused(json: Record<string, unknown>): Error {
    return new Error(`The service refuses: ${String(json.detail)}`)
  }

  async function pull(query: string): Promise<Page> {
    const { status, json } = await get(`/v1/events/pull?${query}`)
    if (status !== 200) throw Object.assign(refused(json), { resumeAfter: json.resume_after })
    return json as unknown as Page
  }

  return {
    /** The position of the newest event. */
    latest: async (): Promise<number> => (await pull('limit=1')).latest,

    async find(eventId: string): Promise<PositionedEnvelope> {
      const { status, json } = await get(`/v1/events/${encodeURIComponent(eventId)}`)
      if (status !== 200) throw refused(json)
      return json as unknown as PositionedEnvelope
    },

    /** Events in order, without an end. @param onGap Called where retention has deleted events in between. */
    async *follow(
      start: number,
      types: readonly string[] | undefined,
      onGap: (from: number, to: number) => void,
    ): AsyncGenerator<PositionedEnvelope, never> {
      const filter = (types ?? []).map((type) => `&event_type=${type}`).join('')
      for (let after = start; ; ) {
        const page = await pull(`after=${after}&limit=100&wait=${WAIT_SECONDS}${filter}`).catch((error: unknown) => {
          const resumeAfter = error instanceof Error && 'resumeAfter' in error ? error.resumeAfter : undefined
          if (typeof resumeAfter !== 'number') throw error
          return resumeAfter
        })
        if (typeof page === 'number') {
          onGap(after, page)
          after = page
          continue
        }
        yield* page.data
        after = page.next_after
      }
    },

    close: () => dispatcher.destroy(),
  }
}
