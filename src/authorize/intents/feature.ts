import type { Trust } from '#src/attest/hardware/evidence.ts'
import type { ApprovalsFeature } from '#src/authorize/approvals/feature.ts'
import type { Assertions } from '#src/authorize/passkeys/assertions.ts'
import type { PolicyReader } from '#src/authorize/policy/current.ts'
import type { StatusIndexes } from '#src/authorize/tokens/status-index.ts'
import type { PolicyWebhooks } from '#src/authorize/webhooks/policy-webhooks.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { Request } from '#src/platform/http/endpoint.ts'
import type { CanaryPort } from '#src/trace/canaries/port.ts'
import { createAuthorizing } from './authorizing.ts'
import type { VerifyRequest } from './bodies.ts'
import { createExecutions } from './executions.ts'
import { INTENT_EXPLAINERS } from './explain.ts'
import { createIssued, issuedRoute } from './issued.ts'
import { type CountVerify, createVerifyMetrics } from './metrics.ts'
import { NOTES } from './notes.ts'
import { createAsk } from './outside-answers.ts'
import { createSignReceipt } from './receipts.ts'
import { intentRoutes } from './routes.ts'
import { createVerifying } from './verifying.ts'

interface IntentsDeps {
  readPolicy: PolicyReader['readPolicy']
  trust: Pick<Trust, 'revocations'>
  canaries: CanaryPort
  statusIndexes: StatusIndexes
  policyWebhooks: Pick<PolicyWebhooks, 'ask'>
  assertions: Pick<Assertions, 'checkAssertion' | 'consumeAssertion'>
  openApproval: ApprovalsFeature['openApproval']
  /** How long an execution waits for others under its root mandate. */
  maxWaitMs?: number | undefined
}

export type IntentsFeature = ReturnType<typeof intentsFeature>

/** Authorize, verify and the outcomes of executed actions. */
export function intentsFeature(p: Platform, deps: IntentsDeps) {
  const authorizing = createAuthorizing({ ...p, ...deps })
  const verifying = createVerifying({
    ...p,
    ...deps,
    ask: createAsk({ ...p, ...deps }),
  })
  const signReceipt = createSignReceipt(p)
  let count: CountVerify | undefined

  /** For every route that verifies. */
  const verify: typeof verifying.verify = async (...given) => {
    const startedAt = performance.now()
    const verified = await verifying.verify(...given)
    const { webhooks, canaries } = verified.facts.answers
    const hasAsked = Object.keys(webhooks).length + Object.keys(canaries).length > 0
    count?.(verified.outcome.reason, { seconds: (performance.now() - startedAt) / 1_000, hasAsked })
    return verified
  }

  async function answer(request: Request<unknown, unknown, VerifyRequest>) {
    const { caller, body, idempotencyKey } = request
    const verified = await verify(caller, body, idempotencyKey, () => request.signal)
    const receipt = body.receipt ? await signReceipt(caller, verified) : undefined
    return { verified, ...(receipt !== undefined && { receipt }) }
  }

  return defineFeature(
    {
      name: 'intents',
      routes: [
        ...intentRoutes({ authorizing, verify: answer, executions: createExecutions(p), now: p.now }),
        issuedRoute(createIssued(p)),
      ],
      notes: NOTES,
      collect: {
        web: (registry) => {
          count = createVerifyMetrics(registry)
        },
      },
    },
    { verify, explainers: INTENT_EXPLAINERS },
  )
}
