import { randomBytes } from 'node:crypto'
import type { newId } from '#src/platform/ids.ts'

type Insert = (table: string, row: Record<string, unknown>) => Promise<unknown>
type MakeId = (type: Parameters<typeof newId>[0]) => string

/** A row in each table of shares, for `fillEveryTable`. */
export async function fillShares(insert: Insert, id: MakeId): Promise<void> {
  const share = id('shr')
  await insert('trace_shares', {
    id: share,
    trace_id: id('trc'),
    scope_kind: 'trace',
    masks: [],
    masked_node_ids: [],
    mask_salt: randomBytes(16),
    reveals: [],
    disclosure_mode: 'manual',
    shown_before: 0,
    token_hash: randomBytes(32),
    created_by: id('key'),
    created_at: new Date(),
    expires_at: new Date(),
  })
  await insert('share_views', {
    id: id('shv'),
    share_id: share,
    network: '203.0.113.0/24',
    has_graph: false,
    masked_nodes: 0,
    disclosed_nodes: 0,
    viewed_at: new Date(),
  })
  await insert('disclosure_requests', {
    id: id('dsr'),
    share_id: share,
    status: 'unverified',
    sealed_person: randomBytes(48),
    code_nonce: randomBytes(16),
    code_hash: randomBytes(32),
    tries_left: 5,
    created_at: new Date(),
    ends_at: new Date(),
  })
}
