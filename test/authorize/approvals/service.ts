import { expect } from 'vitest'
import type { NewApproval } from '#src/authorize/approvals/open.ts'
import type { ApprovalRow } from '#src/authorize/approvals/rows.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema } from '#src/authorize/policy/document.ts'
import { hashCanonical, hashDescription } from '#src/authorize/tokens/format.ts'
import type { Role } from '#src/catalogue/access.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import type { TestCaller } from '../../support/callers.ts'
import { issueIntent } from '../../support/intents.ts'
import {
  type Sent,
  type SignedIn,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../support/service.ts'

export const DESCRIPTION = 'Buy a coffee'
export const PAYLOAD: JsonObject = { amount: 3 }

/** Rules of a policy, compiled: each requires an approval. */
export function rulesOf(...approvals: object[]) {
  const rules = approvals.map((approval, index) => ({
    id: `rule-${index}`,
    description: `In words ${index}`,
    require: { approval },
  }))
  return compilePolicy(documentSchema.parse({ rules })).rules
}

export interface Wanted extends Partial<NewApproval> {
  /** What each rule demands. */
  demands?: object[]
  payload?: JsonObject
  description?: string
}

export type ApprovalService = ReturnType<typeof withApprovals>

/** The service, with approvals that are opened as authorize opens them. */
export async function startApprovals(options: TestServiceOptions = {}) {
  return withApprovals(await startTestService(options))
}

export function withApprovals(service: TestService) {
  const { authorize } = service.services

  async function open(caller: TestCaller, wanted: Wanted = {}): Promise<ApprovalRow> {
    const { demands = [{}], payload = PAYLOAD, description = DESCRIPTION, ...more } = wanted
    const { agentSessionId = 'session-1', deviceId = 'device-1' } = more
    const jti = more.jti ?? (await issueIntent(service.services, caller, { agentSessionId, deviceId })).jti
    return service.test.db.tenant(caller, (tx) =>
      authorize.approvals.openApproval(tx, caller, {
        origin: 'authorize',
        rules: rulesOf(...demands),
        action_description: description,
        action_payload: payload,
        action_hash: hashDescription(description),
        payload_hash: hashCanonical(payload),
        agentId: null,
        requesterUserId: null,
        tokenTtlSeconds: 300,
        mandateId: null,
        scheduleId: null,
        orderId: null,
        ...more,
        jti,
        agentSessionId,
        deviceId,
      }),
    )
  }

  /** What a signed-in user does. */
  const as = (user: Pick<SignedIn, 'headers'>, path: string, json?: object, sent: Sent = {}) =>
    service.call({}, path, {
      ...(json === undefined ? {} : { method: 'POST', json }),
      ...sent,
      headers: { ...user.headers, 'Service-Environment': 'sandbox', ...sent.headers },
    })

  return {
    ...service,
    open,
    as,
    join: (caller: TestCaller, role: Role = 'approver', email?: string) =>
      service.signIn(caller.accountId, { role, ...(email === undefined ? {} : { email }) }),
    approve: (user: Pick<SignedIn, 'headers'>, id: string, json: object = {}, sent?: Sent) =>
      as(user, `/v1/approvals/${id}/approve`, json, sent),
    deny: (user: Pick<SignedIn, 'headers'>, id: string, reason = 'No.', sent?: Sent) =>
      as(user, `/v1/approvals/${id}/deny`, { reason }, sent),
    read: async (caller: TestCaller, id: string) => {
      const { status, json } = await service.call(caller, `/v1/approvals/${id}`)
      expect(status).toBe(200)
      return json
    },
    async setPolicy(caller: TestCaller, document: object) {
      const sent = { method: 'PUT', json: { document }, headers: { 'If-Match': '*' } }
      expect(await service.call(caller, '/v1/policy', sent)).toMatchObject({ status: 200 })
    },
    /** As if the time had passed. */
    expire: (id: string) =>
      service.test.owner(`UPDATE approvals SET expires_at = clock_timestamp() WHERE id = $1`, [id]),
  }
}
