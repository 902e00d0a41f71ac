import { Registry } from 'prom-client'
import { EVENT_SEQUENCE } from '#src/account/webhooks/positions.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createSigningKeys, type SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Scope } from '#src/platform/ids.ts'
import { LEDGER_SEQUENCE } from '#src/platform/ledger/append.ts'
import { createCheckpointer } from '#src/platform/ledger/checkpoints.ts'
import { createLedger, type Ledger, type NewDecision } from '#src/platform/ledger/record.ts'
import { createLog } from '#src/platform/log.ts'
import { createSequenceMetrics, createSequencer } from '#src/platform/sequence.ts'
import type { TestDatabase } from './database.ts'

export const DECISION: NewDecision = {
  kind: 'verify',
  at: new Date('2026-11-22T10:00:00.000Z'),
  actor: { id: 'key_test_1', person: null, keyId: 'key_test_1' },
  subject: 'jti_test_1',
  reason: null,
  valid: true,
  inputs: { action_hash: 'L9ThxnotKPzthJ7hu3bnORuT6xI' },
  policyVersion: 1,
  ruleResults: [{ rule_id: 'r1', effect: 'deny', matched: false, met: true, shadow: false }],
}

export interface TestLedger {
  ledger: Ledger
  signingKeys: SigningKeys
  registry: Registry
  /** Records decisions in one transaction. */
  record(scope: Scope, decisions: readonly NewDecision[]): Promise<string[]>
  /** A sequencer of its own, as another process would have. */
  sequencer(name?: 'ledger' | 'events', limits?: { scopes: number; rows: number }): ReturnType<typeof createSequencer>
  /** Appends what waits, until nothing does. */
  appendAll(name?: 'ledger' | 'events'): Promise<void>
  /** Signs what has grown. */
  checkpoint(): Promise<number>
}

/** The parts of the ledger on a database, without a process. */
export function makeLedger(database: Pick<TestDatabase, 'db'>): TestLedger {
  const { db } = database
  const log = createLog({ process: 'test', level: 'silent' })
  const now = () => new Date()
  const sealer = createSealer({ current: { id: 'k', key: Buffer.alloc(32, 1) } })
  const signingKeys = createSigningKeys({ db, sealer, now })
  const registry = new Registry()
  const metrics = createSequenceMetrics(registry)
  const ledger = createLedger({ sealer, db })
  const checkpointer = createCheckpointer({ db, signingKeys, now, log, minSeconds: 0 })
  const sequencer: TestLedger['sequencer'] = (name = 'ledger', limits) =>
    createSequencer(name === 'ledger' ? LEDGER_SEQUENCE : EVENT_SEQUENCE, {
      db,
      log,
      metrics,
      ...(limits === undefined ? {} : { limits }),
    })
  return {
    ledger,
    signingKeys,
    registry,
    sequencer,
    record: (scope, decisions) => db.tenant(scope, (tx) => ledger.recordMany(tx, scope, decisions)),
    async appendAll(name) {
      const { round } = sequencer(name)
      while ((await round()).count > 0);
    },
    checkpoint: () => checkpointer(),
  }
}

/** Decisions a millisecond apart. */
export function decisions(count: number, change: Partial<NewDecision> = {}): NewDecision[] {
  return Array.from({ length: count }, (_, index) => ({
    ...DECISION,
    at: new Date(DECISION.at.getTime() + index),
    ...change,
  }))
}
