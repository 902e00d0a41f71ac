import { randomBytes, randomUUID } from 'node:crypto'
import { DEFAULT_POLICY } from '#src/attest/policy/policy.ts'
import { DEFAULT_THRESHOLDS } from '#src/attest/screen/thresholds.ts'
import { newAccountId, newId, type Scope } from '#src/platform/ids.ts'
import { fillClinical } from './clinical-rows.ts'
import type { TestDatabase } from './database.ts'
import { fillExclusions } from './exclusion-rows.ts'
import { fillTrace } from './trace-rows.ts'

/** One row in every tenant table, for tests that walk them all. Fails when a new table has no row here. */
export async function fillEveryTable({ db }: Pick<TestDatabase, 'db'>, scope: Scope): Promise<void> {
  const { accountId, environment } = scope
  const id = (type: Parameters<typeof newId>[0]) => newId(type, environment)
  const [claim, media, batch, device, event, endpoint, delivery] = [
    id('clm'),
    id('med'),
    id('bat'),
    id('dev'),
    id('evt'),
    id('whe'),
    id('whd'),
  ]
  const bytes = (length = 32) => randomBytes(length)

  await db.tenant(scope, async (tx) => {
    const insert = (table: string, row: Record<string, unknown>) => insertOfAccount(table, { environment, ...row })
    const insertOfAccount = (table: string, row: Record<string, unknown>) => {
      const columns = { account_id: accountId, ...row }
      const places = Object.keys(columns).map((_, index) => `$${index + 1}`)
      return tx.adhoc(
        `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) VALUES (${places.join(', ')})`,
        Object.values(columns),
      )
    }
    const user = newAccountId('usr')
    await insertOfAccount('users', { id: user, email: `${user}@example.com`, role: 'owner' })
    const signIn = newAccountId('uss')
    await insertOfAccount('user_sessions', {
      id: signIn,
      user_id: user,
      secret_hash: bytes(),
      method: 'magic_link',
      expires_at: new Date(),
    })
    await insertOfAccount('passkeys', {
      id: newAccountId('psk'),
      user_id: user,
      name: 'n',
      credential_id: bytes(),
      public_key: bytes(),
      algorithm: 'ES256',
      counter: 0,
      aaguid: randomUUID(),
      transports: [],
      is_backup_eligible: false,
      is_backed_up: false,
      created_at: new Date(),
    })
    await insertOfAccount('passkey_registrations', { session_id: signIn, challenge: bytes(), expires_at: new Date() })
    await insertOfAccount('audit_entries', {
      id: newAccountId('aud'),
      action: 'key.created',
      actor_kind: 'session',
      actor_id: user,
    })
    await insertOfAccount('scim_tokens', {
      id: newAccountId('sct'),
      token_hash: bytes(),
      last4: 'abcd',
      created_by: user,
      created_at: new Date(),
    })
    // One of an account, whatever the environment.
    const [config] = await tx.adhoc('SELECT 1 FROM sso_configs')
    if (config === undefined) {
      await insertOfAccount('sso_configs', {
        id: newAccountId('sso'),
        issuer: 'https://login.example.com',
        client_id: 'client',
        sealed_client_secret: bytes(40),
        client_secret_last4: 'abcd',
        domain: 'login.example.com',
        domain_token: 'token',
        changed_at: new Date(),
        changed_by: user,
      })
    }
    await insertOfAccount('sso_starts', {
      id: newAccountId('sso'),
      state_hash: bytes(),
      browser_hash: bytes(),
      sealed_secrets: bytes(40),
      generation: 1,
      expires_at: new Date(Date.now() + 600_000),
    })
    await insertOfAccount('directory_users', { user_id: user, changed_at: new Date() })
    await insertOfAccount('invites', {
      id: newAccountId('inv'),
      email: 'b@example.com',
      role: 'analyst',
      invited_by: user,
      nonce: bytes(16),
      token_hash: bytes(),
      created_at: new Date(),
      sent_at: new Date(),
      expires_at: new Date(),
    })
    await insert('mails', { id: newAccountId('mai'), kind: 'login_link', recipient: 'a@example.com', subject_id: user })
    await insertOfAccount('account_exports', {
      id: newAccountId('exp'),
      state: 'failed',
      includes_media: false,
      requested_by: user,
      job_id: randomUUID(),
    })
    await insert('api_keys', {
      id: id('key'),
      name: 'k',
      hash: bytes(),
      prefix: 'svc_test',
      last4: 'abcd',
      scopes: ['all'],
      created_by: 'operator',
    })
    await insert('jobs', { id: randomUUID(), queue: 'attest', lane: accountId, priority: 0, payload: '{}' })
    await insert('c2pa_anchors', {
      id: id('cpa'),
      name: 'Cameras',
      certificate: bytes(),
      fingerprint: bytes(),
      subject: 'CN=cameras',
      not_before: new Date('2026-01-01'),
      not_after: new Date('2036-01-01'),
    })
    await insert('root_cas', {
      id: id('rca'),
      name: 'r',
      certificate: bytes(),
      fingerprint: bytes(),
      subject: 'CN=r',
      not_before: new Date(),
      not_after: new Date(),
    })
    await insert('devices', {
      id: device,
      spki: bytes(),
      spki_digest: bytes(),
      certificate_chain: [bytes()],
      certificate_subject: 'CN=d',
      not_before: new Date(),
      not_after: new Date(),
    })
    await insert('device_entries', { id: id('dev'), device_id: device, kind: 'enrolled', at: new Date() })
    const session = id('cap')
    await insert('capture_sessions', {
      id: session,
      nonce: bytes().toString('base64url'),
      device_id: device,
      expires_at: new Date(),
    })
    await insert('capture_chunks', { session_id: session, chunk_index: 0, sha256: bytes(), size: 1 })
    await insert('device_challenges', {
      id: id('chl'),
      challenge: bytes().toString('base64url'),
      expires_at: new Date(),
    })
    await insert('assertion_counters', {
      device_id: device,
      key_digest: bytes(),
      counter: 1,
      attestation_id: id('att'),
    })
    await insert('media', { id: media, sha256: bytes(), size: 1, content_type: 'image/jpeg' })
    await insert('pictures', { media_id: media, hash: '7', detail: bytes() })
    await insert('batches', { id: batch, accepted: 1, rejected: '[]' })
    await insert('claims', { id: claim, reference: 'r-1' })
    const [attestation, later] = [id('att'), id('att')].sort()
    await insert('attestations', {
      id: attestation,
      claim_id: claim,
      batch_id: batch,
      batch_line: 1,
      content_digest: bytes(),
      media_id: media,
      submission: '{}',
      job_id: randomUUID(),
    })
    await insert('attestations', {
      id: later,
      claim_id: claim,
      content_digest: bytes(),
      media_id: media,
      submission: '{}',
      job_id: randomUUID(),
    })
    await insert('fingerprints', { attestation_id: attestation, claim_id: claim, media_id: media })
    await insert('fingerprints', { attestation_id: later, claim_id: claim, media_id: media })
    await insert('duplicate_findings', {
      attestation_id: later,
      other_claim_id: claim,
      other_attestation_id: attestation,
    })
    await fillClinical(insert, id, user)
    await fillExclusions(tx, insert, id)
    await insert('policy_versions', { version: 1, document: '{}', digest: bytes(), changed_by: id('key') })
    await insert('risk_policies', { version: 1, policy: JSON.stringify(DEFAULT_POLICY), key_id: id('key') })
    await insert('attestation_results', {
      attestation_id: attestation,
      seq: 1,
      evaluated_at: new Date(),
      replaced_for: [],
      risk_status: 'passed',
      risk_score: 0,
      provenance_status: 'verified',
      hardware_tier: 'tee',
      rules_version: 'r',
      policy_version: 0,
      result_jws: 'j',
    })
    const reevaluation = id('ree')
    await insert('reevaluations', {
      id: reevaluation,
      cause: 'policy_changed',
      key: 'k',
      subject: '{}',
      job_id: randomUUID(),
    })
    await insert('reevaluation_marks', { attestation_id: attestation, reevaluation_id: reevaluation })
    const caseId = id('cas')
    const due = new Date()
    await insert('cases', { id: caseId, claim_id: claim, review_due_at: due, decision_due_at: due, due_at: due })
    await insert('case_entries', { case_id: caseId, seq: 1, kind: 'opened', note: 'n' })
    const screening = id('scr')
    const screeningBatch = id('bat')
    await insert('screening_settings', { thresholds: JSON.stringify(DEFAULT_THRESHOLDS), changed_by: 'key' })
    await insert('screening_batches', { id: screeningBatch, accepted: 1, rejected: '[]' })
    await insert('screenings', {
      id: screening,
      claim_id: claim,
      batch_id: screeningBatch,
      batch_line: 1,
      media_id: media,
      media_sha256: bytes(),
      job_id: randomUUID(),
    })
    await insert('screening_calls', {
      screening_id: screening,
      seq: 1,
      media_sha256: bytes(),
      detector: 'http',
      detector_version: '1',
    })
    await insert('intents', {
      jti: id('jti'),
      token_sha256: bytes(),
      action_hash: 'a',
      payload_hash: 'p',
      agent_session_id: 's',
      device_id: 'd',
      policy_version: 0,
      status_list: 0,
      status_index: 0,
      actor_kind: 'key',
      actor_id: id('key'),
      expires_at: new Date(),
      sealed_facts: bytes(),
    })
    await insert('passkey_challenges', {
      id: id('pkc'),
      challenge: bytes(),
      nonce: bytes(),
      action_hash: 'a',
      payload_hash: 'p',
      expires_at: new Date(),
    })
    await insert('revocations', {
      id: id('rev'),
      scope: 'session',
      subject_id: 's',
      reason: 'lost',
      ended_count: 1,
      actor_kind: 'key',
      actor_id: id('key'),
    })
    const approval = id('apr')
    await insert('approvals', {
      id: approval,
      jti: id('jti'),
      origin: 'authorize',
      rules: '[]',
      min_approvals: 1,
      roles: ['owner'],
      requires_passkey: false,
      has_separation: false,
      action_hash: 'a',
      payload_hash: 'p',
      preview_hash: 'v',
      agent_session_id: 's',
      device_id: 'd',
      excluded_ids: [],
      actor_kind: 'key',
      actor_id: id('key'),
      token_ttl_seconds: 300,
      sealed_description: bytes(),
      sealed_payload: bytes(),
      expires_at: new Date(),
    })
    await insert('approval_votes', {
      approval_id: approval,
      user_id: user,
      decision: 'approve',
      via: 'session',
      actor_id: user,
      decided_at: new Date(),
    })
    await insert('stops', { id: id('stp'), reason: 'r', stopped_by: id('key') })
    await insert('events', { id: event, type: 'ping', data: JSON.stringify({ webhook_endpoint_id: endpoint }) })
    const decision = id('dec')
    await insert('decisions', { id: decision, kind: 'verify', at: new Date(), entry: '{}', entry_sha256: bytes() })
    await insert('decision_facts', { decision_id: decision, sealed_facts: bytes() })
    await insert('ledger_pending', { decision_id: id('dec'), entry_sha256: bytes() })
    await insert('webhook_endpoints', {
      id: endpoint,
      url: 'https://example.com/',
      event_types: ['*'],
      sealed_secret: bytes(),
      sealed_previous_secret: bytes(),
      previous_secret_expires_at: new Date(),
    })
    await insert('event_consumers', { name: 'claims', position: 0 })
    await insert('endpoint_statistics', {
      endpoint_id: endpoint,
      hour: new Date(),
      shard: 0,
      kind: 'answer',
      bucket: 1,
      count: 1,
    })
    await insert('policy_webhook_secrets', { version: 1, sealed_secret: bytes(), created_by: user })
    await insert('deliveries', {
      id: delivery,
      endpoint_id: endpoint,
      event_id: event,
      event_type: 'ping',
      job_id: randomUUID(),
    })
    await insert('delivery_attempts', { delivery_id: delivery, attempt: 1 })
    await insert('job_lanes', { queue: 'deliver', lane: endpoint })
    await insert('webhook_recoveries', {
      id: id('rcv'),
      endpoint_id: endpoint,
      which: 'failed',
      since: new Date(),
      until: new Date(),
      cursor: '',
      job_id: randomUUID(),
      created_by: id('key'),
    })
    const agent = id('agt')
    await insert('agents', { id: agent, name: 'a', owner: 'o', created_by: id('key') })
    await insert('agent_suspensions', { agent_id: agent, held_by: 'manual', suspended_at: new Date() })
    const agentSession = id('ses')
    await insert('agent_sessions', { id: agentSession, agent_id: agent, created_by: id('key') })
    const mandate = id('mnd')
    await insert('mandates', {
      id: mandate,
      path: [mandate],
      principal: 'p',
      description: 'd',
      timezone: 'UTC',
      constraints: '{}',
      pointers: '{}',
      started_on: '2026-11-01',
      expires_at: new Date(),
      created_by: id('key'),
      created_at: new Date(),
      updated_at: new Date(),
    })
    await insert('mandate_spend', { mandate_id: mandate, period_start: '2026-11-01', spent: '1' })
    await insert('mandate_charges', {
      jti: id('jti'),
      mandate_id: mandate,
      depth: 1,
      period_start: '2026-11-01',
      amount: '1',
      currency: 'EUR',
    })
    await insert('session_locks', {
      id: id('lck'),
      agent_session_id: agentSession,
      agent_id: agent,
      tripped_families: ['f'],
      source: 'check',
      created_at: new Date(),
    })
    await insert('kill_switches', { settings: '{}', changed_by: id('key'), changed_at: new Date() })
    await fillTrace(insert, id)
    const schedule = id('sch')
    await insert('schedules', {
      id: schedule,
      counterparty: 'c',
      amount_type: 'max',
      amount: '1',
      currency: 'EUR',
      frequency: 'daily',
      anchor_at: new Date(),
      timezone: 'UTC',
      window_seconds: 60,
      occurrences: 1,
      consume_missed: false,
      created_by: id('key'),
    })
    await insert('schedule_cycles', {
      schedule_id: schedule,
      cycle: 1,
      jti: id('jti'),
      amount: '1',
      currency: 'EUR',
      executed_at: new Date(),
    })
    await insert('usage_entries', { operation: 'attest', subject_id: attestation, units: 1 })
    await insert('idempotency_keys', {
      key_digest: bytes(),
      route: 'POST /v1/media',
      fingerprint: bytes(),
      status: 200,
      subject: media,
    })
  })
  // The clock writes these.
  await db.system('fill', async (tx) => {
    await tx.adhoc(
      `INSERT INTO usage_days (account_id, environment, day, operation, units) VALUES ($1, $2, '2026-11-01', 'attest', 1)`,
      [accountId, environment],
    )
    await tx.adhoc(
      `INSERT INTO account_notices (account_id, kind, month, plan, cap, used) VALUES ($1, $2, '2026-11-01', 'growth', 2, 1)`,
      [accountId, environment === 'live' ? 'usage_80' : 'usage_100'],
    )
    // So does the process sequence.
    const insert = (table: string, columns: string, values: string) =>
      tx.adhoc(
        `INSERT INTO ${table} (account_id, environment, ${columns}) VALUES ($1, $2, ${values.replaceAll('HASH', `'\\x${bytes().toString('hex')}'`)})`,
        [accountId, environment],
      )
    await insert('ledger_leaves', 'position, leaf_sha256, decision_id', `0, HASH, '${id('dec')}'`)
    await insert('ledger_nodes', 'level, position, node_sha256', '1, 0, HASH')
    await insert('ledger_heads', 'size, frontier_sha256, grown_at', '1, HASH, now()')
    await insert('ledger_checkpoints', 'size, root_sha256, at, jws', `1, HASH, now(), 'j'`)
    await insert('event_heads', 'position', '1')
  })
}
