// Sends an attack's requests in loops, at a bounded rate, until it is stopped.

import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Attack, Target } from './attacks.ts'

/** The result of an attack. */
export interface Tally {
  sent: number
  /** Number of answers by status, or by the error instead of an answer. */
  outcomes: Record<string, number>
  slowestMs: number
  seconds: number
}

export interface AttackRate {
  /** Concurrent loops: each waits for its answer. */
  atOnce: number
  /** Requests per second of all loops together, at most. */
  perSecond: number
}

const GIVE_UP_MS = 40_000
const MAX_CONNECTIONS = 2_000

export interface AttackTarget extends Target {
  /** Aborts requests under way when this is aborted; undefined: they are completed. */
  endWith(signal: AbortSignal | undefined): void
  close(): Promise<void>
}

/** The service as the attacker reaches it. */
export function openTarget(
  url: string,
  { key, publishableKey, liveKey, waitingIds = [] }: Pick<Target, 'key' | 'publishableKey'> & Partial<Target>,
): AttackTarget {
  const timeouts = { headersTimeout: GIVE_UP_MS, bodyTimeout: GIVE_UP_MS }
  const pool = new Pool(url, { connections: MAX_CONNECTIONS, pipelining: 1, ...timeouts })
  let ending: AbortSignal | undefined
  return {
    key,
    publishableKey,
    liveKey,
    waitingIds,
    async ask({ method = 'GET', path, key: own = key, headers = {}, body = null }) {
      const answer = await pool.request({
        method,
        path,
        headers: { authorization: `Bearer ${own}`, ...headers },
        body,
        signal: ending ?? null,
      })
      return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) }
    },
    endWith(signal) {
      ending = signal
    },
    close: () => pool.destroy(),
  }
}

/** Resolves when the signal was given and every loop has ended. */
export async function runAttack(
  attack: Attack,
  { atOnce, perSecond }: AttackRate,
  signal: AbortSignal,
): Promise<Tally> {
  // Each loop listens, and each of its requests.
  setMaxListeners(0, signal)
  const tally: Tally = { sent: 0, outcomes: {}, slowestMs: 0, seconds: 0 }
  const pauseMs = (1_000 * atOnce) / perSecond
  const startedAt = performance.now()
  const loop = async (index: number) => {
    // The loops start at different times.
    for (let nextAt = startedAt + (pauseMs * index) / atOnce; !signal.aborted; ) {
      await delay(Math.max(0, nextAt - performance.now()), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      nextAt = Math.max(performance.now(), nextAt + pauseMs)
      tally.sent += 1
      const sentAt = performance.now()
      const outcome = await attack
        .send(tally.sent, index)
        .then(({ status }) => String(status))
        .catch((error: unknown) => (error instanceof Error ? error.name : 'no answer'))
      // A request aborted at the end is not counted.
      if (signal.aborted) return
      tally.outcomes[outcome] = (tally.outcomes[outcome] ?? 0) + 1
      tally.slowestMs = Math.max(tally.slowestMs, performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, index) => loop(index)))
  return { ...tally, seconds: (performance.now() - startedAt) / 1_000 }
}
