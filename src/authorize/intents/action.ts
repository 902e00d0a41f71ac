// What a request says of an action, as it is bound into tokens and compared: by hashes, each of bounded bytes.

import { boundedText } from '#src/authorize/policy/json-object.ts'
import type { IntentClaims } from '#src/authorize/tokens/format.ts'
import { hashDescription } from '#src/authorize/tokens/format.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { AuthorizeRequest, VerifyRequest } from './bodies.ts'
import type { RequestFacts, TokenBindings, TokenFacts } from './facts.ts'

interface Action {
  action_description: string
  action_payload: JsonObject
  context?: JsonObject | undefined
  context_evidence?: Json | undefined
  trace_id?: string | undefined
}

/** @throws {Failure} `invalid_request` for a value that is too large. */
export function requestOfVerify(body: VerifyRequest): RequestFacts {
  return {
    ...hashesOf(body),
    agent_session_id: body.agent_session_id ?? null,
    device_id: body.device_id ?? null,
    audience: body.audience ?? null,
    counterparty: body.counterparty ?? null,
    execute: body.execute,
  }
}

/** The verification that authorize foresees: by a relying party that is given the same action and adds nothing. */
export function requestOfAuthorize(body: AuthorizeRequest): RequestFacts {
  checkSize('/metadata', body.metadata)
  return {
    ...hashesOf(body),
    context: null,
    agent_session_id: body.agent_session_id,
    device_id: body.device_id,
    audience: body.audience ?? null,
    counterparty: null,
    execute: true,
  }
}

/** What the pipeline compares with. */
export function tokenFactsOf(claims: IntentClaims, audience: string | null): TokenFacts {
  const { jti, exp } = claims
  return { jti, expires_at: new Date(exp * 1_000).toISOString(), ...tokenBindingsOf(claims, audience) }
}

/** @param audience As authorize was given it: the claim of a token without one names the account. */
export function tokenBindingsOf(claims: IntentClaims, audience: string | null): TokenBindings {
  return {
    audience,
    action_hash: claims.action_hash,
    payload_hash: claims.payload_hash,
    context_hash: claims.context_hash ?? null,
    trace_id: claims.trace_id ?? null,
    reading_hash: claims.reading_hash ?? null,
    agent_id: claims.agent_id ?? null,
    agent_session_id: claims.agent_session_id,
    device_id: claims.device_id,
    mandate_id: claims.mandate_id ?? null,
    schedule_id: claims.schedule_id ?? null,
    order_id: claims.order_id ?? null,
    order_hash: claims.order_hash ?? null,
    biometric: claims.biometric?.verified === true,
    single_use: claims.single_use === true,
  }
}

function hashesOf({ action_description, action_payload, context, context_evidence, trace_id }: Action) {
  checkSize('/context', context)
  return {
    action_description,
    action_payload,
    action_hash: hashDescription(action_description),
    payload_hash: sha256Base64url(boundedText('/action_payload', action_payload)),
    context_hash:
      context_evidence === undefined ? null : sha256Base64url(boundedText('/context_evidence', context_evidence)),
    context: context ?? null,
    trace_id: trace_id ?? null,
  }
}

function checkSize(pointer: string, value: Json | undefined): void {
  if (value !== undefined) boundedText(pointer, value)
}
