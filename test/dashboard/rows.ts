// Data of the pages that are opened by the id of one object.

import { randomBytes, randomUUID } from 'node:crypto'
import { newId } from '#src/platform/ids.ts'
import { type Issued, makeChain } from '../platform/crypto/pki.ts'
import type { TestCaller } from '../support/callers.ts'
import type { TestService } from '../support/service.ts'

export interface PageIds {
  claim: string
  attestation: string
  screening: string
  device: string
  root: string
  anchor: string
  reevaluation: string
}

/** A claim with an evaluated capture, a screening, a case that ended, a device with its root, an anchor, a re-evaluation. */
export async function makePageData(service: TestService, scope: TestCaller): Promise<PageIds> {
  const { accountId, environment } = scope
  const id = (type: Parameters<typeof newId>[0]) => newId(type, environment)
  const bytes = () => randomBytes(32)
  const insert = (table: string, columns: Record<string, unknown>) => {
    const row = { account_id: accountId, environment, ...columns }
    const names = Object.keys(row)
    const places = names.map((_, index) => `$${index + 1}`)
    return service.test.owner(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    )
  }
  const made = async (path: string, json: object, idName: string) => {
    const answer = await service.call(scope, path, { json })
    const found = answer.json[idName]
    if (typeof found !== 'string') throw new Error(`${path} answered ${answer.status}`)
    return found
  }

  const claim = await service.makeClaim(scope, {
    reference: 'CLM-1',
    risk_status: 'review',
    risk_score: 30,
    factor_codes: ['gps_absent'],
  })
  const [media, attestation, screening, reevaluation] = [id('med'), id('att'), id('scr'), id('ree')]
  await insert('media', { id: media, sha256: bytes(), size: 1, content_type: 'image/jpeg' })
  await insert('attestations', {
    id: attestation,
    claim_id: claim,
    content_digest: bytes(),
    media_id: media,
    submission: JSON.stringify({ media_type: 'photo' }),
    job_id: randomUUID(),
  })
  await insert('screenings', {
    id: screening,
    claim_id: claim,
    media_id: media,
    media_sha256: bytes(),
    job_id: randomUUID(),
  })
  await insert('reevaluations', {
    id: reevaluation,
    cause: 'policy_changed',
    key: '1',
    subject: JSON.stringify({ policyVersion: 1 }),
    job_id: randomUUID(),
  })
  const at = new Date()
  await insert('cases', {
    id: id('cas'),
    claim_id: claim,
    state: 'approved',
    reason_code: 'risk_accepted',
    closed_at: at,
    review_due_at: at,
    decision_due_at: at,
  })
  const { root, intermediate, leaf } = await makeChain()
  const trusted = { name: 'Maker', certificate: base64(root) }
  const rootCa = await made('/v1/admin/root-cas', trusted, 'root_ca_id')
  const anchor = await made('/v1/admin/c2pa-anchors', trusted, 'c2pa_anchor_id')
  const chain = [leaf, intermediate].map(base64)
  const device = await made('/v1/admin/devices', { name: 'Phone 1', certificate_chain: chain }, 'device_id')
  return { claim, attestation, screening, device, root: rootCa, anchor, reevaluation }
}

export function base64({ der }: Pick<Issued, 'der'>): string {
  return Buffer.from(der).toString('base64')
}
