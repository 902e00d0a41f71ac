import { Registry } from 'prom-client'
import { createLedgerCheck, type HeldCheckpoint, type LedgerReport } from '#client/verify/ledger.ts'
import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Scope } from '#src/platform/ids.ts'
import { LEDGER_SEQUENCE } from '#src/platform/ledger/append.ts'
import { createCheckpointer } from '#src/platform/ledger/checkpoints.ts'
import type { NewDecision } from '#src/platform/ledger/record.ts'
import { createSequenceMetrics, createSequencer } from '#src/platform/sequence.ts'
import { type Sent, startTestService, type TestService } from '../../support/service.ts'

/** What the routes answer, one or the other member. */
export interface LedgerBody {
  code: string
  data: { decision_id: string; size: number; root: string; jws: string }[]
  next_cursor: string
  size: number
  position: number
  root: string
  entry_hash: string
  entry: Json
  actor: { type: string; id: string | null; label: string | null }
  leaf_hash: string
  proof: string[]
  checkpoint: { jws: string }
  from: { size: number; root: string }
  to: { size: number; root: string }
  valid: boolean
  problems: { code: string }[]
  next: number | null
}

export interface LedgerService extends TestService {
  ask(caller: { key?: string }, path: string, sent?: Sent): Promise<{ status: number; json: LedgerBody }>
  /** Records decisions, and has them appended and signed. */
  decide(scope: Scope, decisions: readonly NewDecision[]): Promise<string[]>
  record(scope: Scope, decisions: readonly NewDecision[]): Promise<string[]>
  append(): Promise<void>
  sign(): Promise<number>
  /** The lines of an export. */
  exported(key: string, after?: number): Promise<string[]>
  /** What a stranger finds in these lines with the published keys. */
  judge(lines: readonly string[], held?: readonly HeldCheckpoint[]): Promise<LedgerReport>
}

/** The service with the ledger's parts of the processes sequence and clock. */
export async function startLedgerService(): Promise<LedgerService> {
  const service = await startTestService({ scopes: ['admin', 'verify'] })
  const { db, ledger, log, now, signingKeys } = service.services.platform
  const metrics = createSequenceMetrics(new Registry())
  const sequencer = createSequencer(LEDGER_SEQUENCE, { db, log, metrics })
  const sign = createCheckpointer({ db, signingKeys, now, log, minSeconds: 0 })
  const record = (scope: Scope, decisions: readonly NewDecision[]) =>
    db.tenant(scope, (tx) => ledger.recordMany(tx, scope, decisions))
  const append = async () => {
    while ((await sequencer.round()).count > 0);
  }
  return {
    ...service,
    async ask(caller, path, sent = {}) {
      const { status, json } = await service.call(caller, `/v1/decisions${path}`, sent)
      return { status, json: json as unknown as LedgerBody }
    },
    record,
    append,
    sign: () => sign(),
    async decide(scope, decisions) {
      const ids = await record(scope, decisions)
      await append()
      await sign()
      return ids
    },
    async exported(key, after) {
      const query = after === undefined ? '' : `?after=${after}`
      const answer = await fetch(`${service.app.url}/v1/decisions/export${query}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      if (answer.status !== 200) throw new Error(`the export answered ${answer.status}: ${await answer.text()}`)
      return (await answer.text()).split('\n').slice(0, -1)
    },
    judge: (lines, held = []) => judge(signingKeys, lines, held),
  }
}

async function judge(
  signingKeys: Pick<SigningKeys, 'jwks'>,
  lines: readonly string[],
  held: readonly HeldCheckpoint[],
): Promise<LedgerReport> {
  const check = createLedgerCheck(await signingKeys.jwks(), held)
  await check.begin()
  for (const [index, line] of lines.entries()) {
    const value: Json = parseJson(Buffer.from(line), { maxBytes: 1_000_000, maxDepth: 64 })
    await check.take(value, `export:${index + 1}`)
  }
  return check.finish()
}
