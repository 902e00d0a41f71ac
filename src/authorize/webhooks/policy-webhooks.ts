// Asks the receivers that an account's policy names. Nothing here opens a transaction that outlives a statement, and no
// caller may be inside one: a receiver takes as long as it likes. All questions of one evaluation are sent at once, once,
// and share one deadline, which the reading of the secret counts against too. What is not answered by then is
// unavailable, and its rule denies.

import { signDelivery } from '#src/account/webhooks/signature.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Outbound, OutboundAnswer } from '#src/platform/net/outbound.ts'
import {
  MAX_ANSWER_BYTES,
  type PolicyWebhookAnswer,
  type ReadAnswer,
  readAnswer,
  type UnavailableCause,
} from './answer.ts'
import type { PolicySecrets } from './secrets.ts'

/** For all webhook rules of a verify together (specification, Limits). */
const POLICY_WEBHOOK_DEADLINE_MS = 3_000
/** Questions of one account that this process waits for; further ones are unavailable at once. */
export const MAX_IN_FLIGHT = 32

/** A webhook rule of the policy whose condition matches. */
export interface PolicyWebhookNeed {
  ruleId: string
  url: string
  /** The rule's own limit, of which the deadline may leave less. */
  timeoutMs: number
}

/** What every receiver of an evaluation is told, as it is sent. */
export interface PolicyQuestion {
  /** Id of this evaluation, in the ledger too. All questions of one evaluation share it. */
  evaluation_id: string
  jti: string
  /** null for the action of an order: what it says is personal. The receiver reads the order with a key. */
  action_description: string | null
  action_payload: Json
  context: Json
  /** Only for the action of an order. */
  order?: { order_id: string; order_hash: string; action_hash: string; payload_hash: string }
  agent_id: string | null
  agent_session_id: string
  device_id: string
}

export interface PolicyWebhookOutcome {
  ruleId: string
  answer: PolicyWebhookAnswer | 'unavailable'
  /** null when it was answered. */
  cause: Extract<ReadAnswer, { cause: unknown }>['cause'] | null
  detail?: string
  /** null when nothing was sent. */
  durationMs: number | null
}

export interface PolicyWebhooksDeps {
  outbound: Pick<Outbound, 'send'>
  secrets: Pick<PolicySecrets, 'live'>
  now(): Date
  /** For metrics and the log. */
  onOutcome?: (scope: Scope, outcome: PolicyWebhookOutcome) => void
}

/** A question without an answer says why it has none. */
export type PolicyWebhookResult = PolicyWebhookAnswer | { unavailable: UnavailableCause }

export type PolicyWebhooks = ReturnType<typeof createPolicyWebhooks>

export function createPolicyWebhooks({ outbound, secrets, now, onOutcome = () => {} }: PolicyWebhooksDeps) {
  const inFlight = new Map<string, number>()

  /** Sends one question, and returns what came of it in time. Its place is free when the call has really ended. */
  async function send(scope: Scope, call: Call): Promise<ReadAnswer> {
    const { accountId } = scope
    inFlight.set(accountId, (inFlight.get(accountId) ?? 0) + 1)
    const body = Buffer.from(JSON.stringify({ ...call.question, rule_id: call.ruleId, deadline_ms: call.timeoutMs }))
    const sent = outbound
      .send({
        account: accountId,
        url: call.url,
        environment: scope.environment,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': 'Countersign-Policy/1',
          ...signDelivery({
            rawBody: body,
            eventId: call.messageId,
            secrets: call.secrets,
            nowSeconds: Math.floor(now().getTime() / 1_000),
          }),
        },
        body,
        timeoutMs: call.timeoutMs,
        maxResponseBytes: MAX_ANSWER_BYTES,
        signal: call.signal,
      })
      .finally(() => {
        const rest = (inFlight.get(accountId) ?? 1) - 1
        if (rest === 0) inFlight.delete(accountId)
        else inFlight.set(accountId, rest)
      })
    return readAnswer(await endingAt(sent, call.timeoutMs))
  }

  return {
    /**
     * Asks for every need, and never rejects for what a receiver does. The answers have each rule's id.
     * @throws when the secrets can't be read.
     */
    async ask(
      scope: Scope,
      needs: readonly PolicyWebhookNeed[],
      question: PolicyQuestion,
      signal: AbortSignal,
    ): Promise<Record<string, PolicyWebhookResult>> {
      if (needs.length === 0) return {}
      const startedAt = performance.now()
      const live = await secrets.live(scope)

      const askOne = async ({ ruleId, url, timeoutMs: own }: PolicyWebhookNeed, index: number) => {
        const askedAt = performance.now()
        const left = Math.floor(POLICY_WEBHOOK_DEADLINE_MS - (askedAt - startedAt))
        const timeoutMs = Math.min(own, left)
        const refusal = refusalOf({ live, timeoutMs, running: inFlight.get(scope.accountId) ?? 0 })
        // Standard Webhooks: an id of the message, and each rule's question is one.
        const messageId = `${question.evaluation_id}-${index + 1}`
        const read =
          refusal ?? (await send(scope, { ruleId, url, timeoutMs, question, messageId, secrets: live, signal }))
        const durationMs = refusal === undefined ? Math.round(performance.now() - askedAt) : null
        const outcome: PolicyWebhookOutcome =
          'answer' in read
            ? { ruleId, answer: read.answer, cause: null, durationMs }
            : { ruleId, answer: 'unavailable', ...read, durationMs }
        onOutcome(scope, outcome)
        return [ruleId, 'answer' in read ? read.answer : { unavailable: read.cause }] as const
      }
      return Object.fromEntries(await Promise.all(needs.map(askOne)))
    },
  }
}

interface Call {
  ruleId: string
  url: string
  timeoutMs: number
  question: PolicyQuestion
  messageId: string
  secrets: readonly string[]
  signal: AbortSignal
}

function refusalOf({ live, timeoutMs, running }: { live: readonly string[]; timeoutMs: number; running: number }) {
  if (live.length === 0) return { cause: 'no_secret', detail: 'the account has no secret to sign with' } as const
  if (timeoutMs <= 0) return { cause: 'timeout', detail: 'no time was left' } as const
  if (running >= MAX_IN_FLIGHT) return { cause: 'busy', detail: `${MAX_IN_FLIGHT} questions are in flight` } as const
  return undefined
}

// An egress thread that does not react is waited for beyond the deadline of its call; an evaluation is not.
async function endingAt(sent: Promise<OutboundAnswer>, timeoutMs: number): Promise<OutboundAnswer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<OutboundAnswer>((done) => {
    timer = setTimeout(done, timeoutMs, {
      ok: false,
      code: 'timeout',
      detail: 'not done in time',
      durationMs: timeoutMs,
    })
  })
  try {
    return await Promise.race([sent, late])
  } finally {
    clearTimeout(timer)
  }
}
