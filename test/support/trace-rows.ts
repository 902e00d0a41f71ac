import { randomBytes, randomUUID } from 'node:crypto'
import type { newId } from '#src/platform/ids.ts'

type Insert = (table: string, row: Record<string, unknown>) => Promise<unknown>
type MakeId = (type: Parameters<typeof newId>[0]) => string

/** A row in each table of traces and what is made of them, for `fillEveryTable`. */
export async function fillTrace(insert: Insert, id: MakeId): Promise<void> {
  const bytes = () => randomBytes(32)
  await fillShares(insert, id)
  const trace = id('trc')
  await insert('traces', {
    id: trace,
    source: 'client',
    canary_set: 's',
    readings: '[]',
    reading_at: new Date(),
    digest: bytes().toString('base64url'),
    created_by: id('key'),
    created_at: new Date(),
  })
  const diff = id('dif')
  await insert('eval_sets', {
    id: id('evs'),
    name: 'n',
    prompts: 1,
    sha256: bytes(),
    sealed_prompts: bytes(),
    created_by: id('key'),
    created_at: new Date(),
  })
  await insert('model_diffs', {
    id: diff,
    base_model: 'm',
    target_model: 'm',
    eval_set: 'default',
    thresholds: '{}',
    seed: 1,
    job_id: randomUUID(),
    prompts: 1,
    created_by: id('key'),
    created_at: new Date(),
  })
  await insert('diff_checkpoints', { diff_id: diff, done: 0, measures: '{}', neurons: bytes() })
  await insert('trace_contents', { id: trace, sealed_content: bytes(), created_at: new Date() })
  const traceJob = id('job')
  await insert('trace_jobs', {
    id: traceJob,
    trace_id: trace,
    model_version_id: 'm@0',
    method: 'exact',
    request: '{}',
    sealed_input: bytes(),
    queue_job_id: randomUUID(),
    created_by: id('key'),
    created_at: new Date(),
  })
  await insert('trace_manifests', { id: traceJob, sealed_manifest: bytes(), created_at: new Date() })
}

async function fillShares(insert: Insert, id: MakeId): Promise<void> {
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
