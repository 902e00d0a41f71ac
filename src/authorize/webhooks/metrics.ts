import { LRUCache } from 'lru-cache'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import type { PolicyWebhookOutcome } from './policy-webhooks.ts'

// One broken receiver may be asked hundreds of times a second.
const LOGGED_EVERY_MS = 60_000
const MAX_LOGGED = 1_000

/** Counts the outcomes of questions in the processes that register it, which are those that ask. */
export function createPolicyWebhookMetrics(registry: Registry): (outcome: PolicyWebhookOutcome) => void {
  const outcomes = new Counter({
    name: 'countersign_policy_webhook_questions_total',
    help: 'Questions to policy webhooks by outcome: allow, deny, or why there was no answer (timeout, malformed, ...).',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const times = new Histogram({
    name: 'countersign_policy_webhook_seconds',
    help: 'Time from the name look-up to the end of the answer, of questions that were sent.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
    registers: [registry],
  })
  return ({ answer, cause, durationMs }) => {
    outcomes.inc({ outcome: answer === 'unavailable' ? (cause ?? 'unavailable') : answer.decision })
    if (durationMs !== null) times.observe(durationMs / 1_000)
  }
}

/** Logs why there was no answer, once a minute for each account, rule and cause. */
export function createUnavailableLog(log: Log): (scope: Scope, outcome: PolicyWebhookOutcome) => void {
  const logged = new LRUCache<string, true>({ max: MAX_LOGGED, ttl: LOGGED_EVERY_MS })
  return ({ accountId: account, environment }, { ruleId: rule, cause, detail }) => {
    // The caller of verify went away.
    if (cause === null || cause === 'aborted') return
    const key = `${account} ${environment} ${rule} ${cause}`
    if (logged.has(key)) return
    logged.set(key, true)
    log.warn({ account, environment, rule, reason: cause, detail: detail ?? '' }, 'a policy webhook gave no answer')
  }
}
