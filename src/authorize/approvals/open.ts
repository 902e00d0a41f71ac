// Asks people to approve an action: the row, its event, its ledger entry and the mails, in the transaction of the
// authorization or verification that needs it.

import { sendMail } from '#src/account/mail/send.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { canonicalize, type Json, type JsonObject } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, actorOf, credentialOf } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { PolicyReader } from '../policy/current.ts'
import { findIntent } from '../tokens/rows.ts'
import { type ApprovalOrigin, approvedRulesOf, mergeRules } from './facts.ts'
import { previewOf } from './preview.ts'
import { type ApprovalRow, countRecent, insertApproval, readApprovals } from './rows.ts'
import { sealDescription, sealPayload } from './sealed.ts'
import { findApprovers, findCreator, readTeam } from './vote-rows.ts'

export interface NewApproval {
  /** An `apr_` id, where the token names it; made when absent. */
  id?: string
  jti: string
  origin: ApprovalOrigin
  /** Rules that match the action and require an approval, in the order of the policy. */
  rules: readonly CompiledRule[]
  action_description: string
  action_payload: JsonObject
  action_hash: string
  payload_hash: string
  agentId: string | null
  agentSessionId: string
  deviceId: string
  /** The user of the passkey that the action was authorized with; null: the one who authorized it, or made the key that did. */
  requesterUserId: string | null
  /** How long an approved token may be used. */
  tokenTtlSeconds: number
  /** It expires then at the latest. authorize: `exp` of the token without its 300 s; verify: `exp`. */
  latestExpiry?: Date | undefined
  mandateId: string | null
  scheduleId: string | null
  /** What such an action says is personal: events have its hashes only. */
  orderId: string | null
}

export interface OpeningDeps {
  sealer: Sealer
  ledger: Pick<Ledger, 'record'>
  readPolicy: PolicyReader['readPolicy']
  /** Address without a trailing slash. */
  baseUrl: string
  now(): Date
}

/** Who gets a mail. The approval waits for everybody else as well. */
const MAX_MAILED = 50
/** Approvals of an account and environment, an hour, of which mails are sent: an agent must not fill mailboxes. */
const MAILED_AN_HOUR = 60

export function createOpening({ sealer, ledger, readPolicy, baseUrl, now }: OpeningDeps) {
  return {
    /** The approval; the one that is there where the token has one of the origin already. */
    async openApproval(tx: Tx, acting: Acting, wanted: NewApproval): Promise<ApprovalRow> {
      const { jti, origin, agentId, agentSessionId, deviceId, mandateId, scheduleId, orderId } = wanted
      const demand = mergeRules(wanted.rules)
      const rules = approvedRulesOf(wanted.rules)
      const [policy, team, recent, actor] = await Promise.all([
        readPolicy(tx),
        readTeam(tx, acting, agentId),
        countRecent(tx, acting, now(), MAILED_AN_HOUR),
        authorizedBy(tx, acting, wanted),
      ])
      const requesterId = wanted.requesterUserId ?? (await requesterOf(tx, actor))
      const hasSeparation = policy.compiled.document.approvals?.separation_of_duties ?? team.members >= 2
      const excludedIds = hasSeparation
        ? [...new Set([requesterId, team.ownerOfAgent].filter((one) => one !== null))].toSorted()
        : []
      const id = wanted.id ?? newId('apr', acting.environment)
      const isPersonal = orderId !== null
      const preview = isPersonal ? null : previewOf(wanted.action_payload)
      const previewHash = sha256Base64url(canonicalize(preview))
      const row = await insertApproval(tx, acting, {
        id,
        jti,
        origin,
        rules,
        minApprovals: demand.min_approvals,
        roles: demand.roles,
        requiresPasskey: demand.require_passkey,
        hasSeparation,
        actionHash: wanted.action_hash,
        payloadHash: wanted.payload_hash,
        previewHash,
        agentId,
        agentSessionId,
        deviceId,
        mandateId,
        scheduleId,
        orderId,
        requesterId,
        excludedIds,
        actorKind: actor.kind,
        actorId: actor.id,
        tokenTtlSeconds: wanted.tokenTtlSeconds,
        sealedDescription: sealDescription(sealer, id, wanted.action_description),
        sealedPayload: sealPayload(sealer, id, wanted.action_payload),
        ttlSeconds: demand.ttl_seconds,
        latestExpiry: wanted.latestExpiry ?? null,
      })
      if (row === undefined) return getOpened(tx, wanted)
      const expiresAt = row.expiresAt.toISOString()
      const ruleId = rules[0]?.rule_id ?? ''
      const recorded = ledger.record(tx, acting, {
        kind: 'approval',
        at: row.createdAt,
        actor: actorOf(acting.principal),
        subject: id,
        reason: 'approval_required',
        valid: null,
        inputs: {
          approval_id: id,
          jti,
          rule_id: ruleId,
          action_hash: row.actionHash,
          payload_hash: row.payloadHash,
          preview_hash: previewHash,
          expires_at: expiresAt,
          agent_id: agentId,
          agent_session_id: agentSessionId,
          mandate_id: mandateId,
          schedule_id: scheduleId,
          ...(orderId !== null && { order_id: orderId }),
        },
        policyVersion: policy.version,
        facts: {
          origin,
          rules: rules as unknown as Json,
          demand: { ...demand },
          separation_of_duties: hasSeparation,
          requester: requesterId,
          excluded: excludedIds,
          payload_preview: preview,
        },
      })
      const emitted = emit(tx, acting, {
        type: 'approval.requested',
        data: {
          approval_id: id,
          jti,
          rule_id: ruleId,
          order_id: orderId,
          action_description: isPersonal ? null : wanted.action_description,
          payload_preview: preview,
          action_hash: row.actionHash,
          payload_hash: row.payloadHash,
          preview_hash: previewHash,
          min_approvals: row.minApprovals,
          expires_at: expiresAt,
          approve_url: approveUrl(baseUrl, id),
        },
      })
      await Promise.all([recorded, emitted, recent < MAILED_AN_HOUR ? mail(tx, acting, row) : undefined])
      return row
    },
  }
}

/** The page where a person decides. The id is in the fragment, so that the page is the same for everybody. */
export function approveUrl(baseUrl: string, id: string): string {
  return `${baseUrl}/approve#${id}`
}

// The statements follow each other: each is sent without waiting for the one before.
async function mail(tx: Tx, acting: Acting, { id, roles, excludedIds }: ApprovalRow): Promise<void> {
  const told = await findApprovers(tx, acting, { roles, except: excludedIds, limit: MAX_MAILED })
  const { accountId, environment } = acting
  await Promise.all(
    told.map(({ email }) =>
      sendMail(tx, { kind: 'approval', recipient: email, subjectId: id, scope: { accountId, environment } }),
    ),
  )
}

interface AuthorizedBy {
  kind: 'key' | 'session'
  id: string
}

// The requester of an approval that a verification opens is the authorizer of the token, not the relying party.
async function authorizedBy(
  tx: Tx,
  { principal }: Acting,
  { origin, jti }: Pick<NewApproval, 'origin' | 'jti'>,
): Promise<AuthorizedBy> {
  if (origin === 'authorize') return { kind: credentialOf(principal).kind, id: actorOf(principal).id }
  const intent = await findIntent(tx, jti)
  if (intent === undefined) throw new Error('an approval is asked for a token that is not there')
  return { kind: intent.actorKind, id: intent.actorId }
}

async function requesterOf(tx: Tx, { kind, id }: AuthorizedBy): Promise<string | null> {
  return kind === 'session' ? id : findCreator(tx, id)
}

async function getOpened(tx: Tx, { jti, origin }: Pick<NewApproval, 'jti' | 'origin'>): Promise<ApprovalRow> {
  const opened = (await readApprovals(tx, jti, false)).find((one) => one.origin === origin)
  if (opened === undefined) throw new Error('an approval that excludes another is not there')
  return opened
}
