import {
  hashCanonical,
  hashDescription,
  hashToken,
  type IntentClaims,
  signIntentToken,
} from '#src/authorize/tokens/format.ts'
import { insertIntent, type NewIntent } from '#src/authorize/tokens/rows.ts'
import { sealFacts, sealToken } from '#src/authorize/tokens/sealed.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import type { Services } from '#src/services.ts'

export interface IssuedIntent {
  jti: string
  token: string
  claims: IntentClaims
  row: NewIntent
}

interface Wanted {
  agentSessionId?: string
  deviceId?: string
  lifetimeSeconds?: number
  /** Kept for replays. */
  isSealed?: boolean
}

/** A token as authorize would issue it, signed but not stored. */
export async function makeIntent(
  { platform, authorize }: Services,
  { accountId, environment }: Acting,
  { agentSessionId = 'session-1', deviceId = 'device-1', lifetimeSeconds = 300, isSealed = false }: Wanted = {},
): Promise<IssuedIntent> {
  const jti = newId('jti', environment)
  const { list, index, reference } = await authorize.tokens.statusIndexes.next(environment)
  const iat = Math.floor(Date.now() / 1_000)
  const claims: IntentClaims = {
    iss: platform.baseUrl,
    sub: accountId,
    aud: platform.baseUrl,
    jti,
    iat,
    exp: iat + lifetimeSeconds,
    env: environment,
    action_hash: hashDescription('Buy a coffee'),
    payload_hash: hashCanonical({ amount: 3 }),
    agent_session_id: agentSessionId,
    device_id: deviceId,
    policy_version: 0,
    status: { status_list: reference },
  }
  const token = await signIntentToken(platform.signingKeys, claims)
  const row: NewIntent = {
    jti,
    tokenSha256: hashToken(token),
    actionHash: claims.action_hash,
    payloadHash: claims.payload_hash,
    contextHash: null,
    traceId: null,
    readingHash: null,
    agentId: null,
    agentSessionId,
    deviceId,
    mandateId: null,
    scheduleId: null,
    orderId: null,
    orderHash: null,
    audience: null,
    biometric: null,
    passkeyUserId: null,
    policyVersion: 0,
    statusList: list,
    statusIndex: index,
    expiresAt: new Date(claims.exp * 1_000),
    sealedFacts: sealFacts(platform.sealer, jti, { amount: '3' }),
    sealedToken: isSealed ? sealToken(platform.sealer, jti, token) : null,
  }
  return { jti, token, claims, row }
}

/** The same, stored. */
export async function issueIntent(services: Services, acting: Acting, wanted?: Wanted): Promise<IssuedIntent> {
  const made = await makeIntent(services, acting, wanted)
  await services.platform.db.tenant(acting, (tx) => insertIntent(tx, acting, made.row))
  return made
}
