// Asks people to approve an action: the row, its event, its ledger entry and the mails, in the transaction of the
// authorization or verification that needs it.

import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { JsonObject } from '../policy/evaluate.ts'
import type { ApprovalOrigin } from './facts.ts'
import type { ApprovalRow } from './rows.ts'

export interface NewApproval {
  /** An `apr_` id, where the token names it; made when absent. */
  id?: string
  jti: string
  origin: ApprovalOrigin
  /** Those that the action matches and that require an approval; in the order of the policy. */
  rules: readonly CompiledRule[]
  action_description: string
  action_payload: JsonObject
  action_hash: string
  payload_hash: string
  agentId: string | null
  agentSessionId: string
  deviceId: string
  /** The user of the passkey that the action was authorized with; null: who acts is asked for (`findRequester`). */
  requesterUserId: string | null
  /** How long an approved token may be used. */
  tokenTtlSeconds: number
  /** It expires then at the latest. authorize: `exp` of the token without its 300 s; verify: `exp`. */
  latestExpiry?: Date | undefined
  mandateId: string | null
  scheduleId: string | null
}

export interface Opening {
  /** The approval; the one that is there where the token has one of the origin already. */
  openApproval(tx: Tx, acting: Acting, wanted: NewApproval): Promise<ApprovalRow>
}

export function createOpening(): Opening {
  return {
    openApproval() {
      throw new Error('not yet')
    },
  }
}
