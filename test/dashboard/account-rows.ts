// Data of the pages for developers and for the administration of an account.

import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../support/callers.ts'
import type { TestService } from '../support/service.ts'

export interface AccountIds {
  key: string
  endpoint: string
  delivery: string
  event: string
  user: string
  entry: string
  export: string
}

/** A key, an endpoint with a ping that waits, a consumer, an invite, a directory token, an export, usage. */
export async function makeAccountData(service: TestService, { accountId }: TestCaller): Promise<AccountIds> {
  const { headers, userId } = await service.signIn(accountId)
  const send = async (path: string, json?: object, method = 'POST') => {
    const answer = await service.call({}, path, { method, headers, ...(json !== undefined && { json }) })
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.json
  }
  const key = await send('/v1/account/keys', { name: 'Claims system', scopes: ['attest'] })
  await send(`/v1/account/keys/${key.api_key_id}/rotate`)
  const endpoint = await send('/v1/webhook-endpoints', { url: 'https://example.com/hook', event_types: ['*'] })
  const ping = await send(`/v1/webhook-endpoints/${endpoint.webhook_endpoint_id}/test`)
  await send('/v1/event-consumers/billing', {}, 'PUT')
  await send('/v1/org/users/invite', { email: 'ada@example.com', role: 'analyst' })
  await send('/v1/auth/scim-tokens')
  const exported = await send('/v1/account/export', {})
  await service.test.owner(
    `INSERT INTO usage_entries (account_id, environment, operation, subject_id, units, at)
     VALUES ($1, 'live', 'attest', $2, 30, now()), ($1, 'live', 'verify', $3, 4, now())`,
    [accountId, newId('att', 'live'), newId('clm', 'live')],
  )
  const { json } = await service.call({}, '/v1/account/audit', { headers })
  const [entry] = json.data as { audit_entry_id: string }[]
  return {
    key: String(key.api_key_id),
    endpoint: String(endpoint.webhook_endpoint_id),
    delivery: String(ping.delivery_id),
    event: String(ping.event_id),
    user: userId,
    entry: entry?.audit_entry_id ?? '',
    export: String(exported.export_id),
  }
}
