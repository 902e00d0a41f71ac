// Writes decisions, each in the transaction of what it decides: neither exists without the other. An entry waits in
// `ledger_pending` until the process `sequence` appends it to the Merkle log, so that no decision waits for another.

import type { DecisionKind } from '#src/catalogue/decisions.ts'
import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { takeRandomBytes } from '#src/platform/crypto/random.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { type DecisionEntry, entryHash, entryOf, entryText, type NewDecision, subjectsOf } from './entry.ts'
import { type DecisionFilter, findSealedFacts, insertDecisions, listInOrder, type NewDecisionRow } from './rows.ts'

export type { DecisionEntry, NewDecision, RuleResult } from './entry.ts'

export interface RecordedDecision {
  entry: DecisionEntry
  /** Opens its facts, which takes a while where they are long; undefined when it was recorded without any. */
  facts(): Json | undefined
  /** Size of the entry and the sealed facts. */
  bytes: number
}

export interface OpenedFacts {
  facts: Json
  /** Hash in the entry, if nothing was changed. */
  hash: string
}

export interface Ledger {
  /** Records a decision, in one statement that may be sent together with the caller's others. Returns its `dec_` id. */
  record(tx: Tx, scope: Scope, decision: NewDecision): Promise<string>
  /** The same for several, in one statement. Ids ascend in the order given where their times do. */
  recordMany(tx: Tx, scope: Scope, decisions: readonly NewDecision[]): Promise<string[]>
  /**
   * The facts of a decision.
   * @throws {Error} when they were changed or are sealed under a key that is not configured.
   */
  readFacts(tx: Tx, decisionId: string): Promise<Json | undefined>
  /** The same, with their hash. */
  openFacts(tx: Tx, decisionId: string): Promise<OpenedFacts | undefined>
  /** Decisions with their facts, in short transactions: entries that commit meanwhile may be missed. */
  listDecisionsBetween(
    scope: Scope,
    range: Pick<DecisionFilter, 'from' | 'to'> & {
      kind?: DecisionKind | undefined
      /** Continues after this decision. */
      after?: string | undefined
      /** Oldest first otherwise. */
      isNewestFirst?: boolean | undefined
    },
  ): AsyncIterable<RecordedDecision>
}

interface LedgerDeps {
  sealer: Sealer
  db: Pick<Database, 'tenant'>
}

export const SEALED_FACTS: SealedColumn = {
  table: 'decision_facts',
  column: 'sealed_facts',
  of: 'environment',
  id: 'decision_id',
  use: ({ decision_id = '' }) => useOf(decision_id),
}

// The entry is given to strangers, and facts may be few and guessable: with a salt, their hash tells nothing.
const SALT_BYTES = 16
const FACTS_LIMITS = { maxBytes: 16 * 1024 * 1024, maxDepth: 1_000 }
// An entry has a kilobyte or two, and its facts some more. Facts of a long policy have up to a megabyte.
const PAGE_ROWS = 200
const PAGE_BYTES = 4 * 1024 * 1024

export function createLedger({ sealer, db }: LedgerDeps): Ledger {
  async function recordMany(tx: Tx, scope: Scope, decisions: readonly NewDecision[]): Promise<string[]> {
    if (decisions.length === 0) return []
    const rows = decisions.map((decision, index) => rowOf(scope, decision, index))
    await insertDecisions(tx, scope, rows)
    return rows.map(({ id }) => id)
  }

  function rowOf(scope: Scope, decision: NewDecision, index: number): NewDecisionRow {
    const id = decision.id ?? newId('dec', scope.environment, decision.at.getTime(), index)
    const factsText = decision.facts === undefined ? null : textOf(decision.facts)
    const entry = entryOf({ ...decision, id }, scope.environment, factsText)
    const text = entryText(entry)
    return {
      id,
      kind: decision.kind,
      at: decision.at,
      reason: decision.reason,
      subjects: subjectsOf(entry),
      entry: text,
      entrySha256: entryHash(text),
      sealedFacts: factsText === null ? null : sealer.seal(Buffer.from(factsText), useOf(id)),
    }
  }

  function open(decisionId: string, sealed: Buffer | null): OpenedFacts | undefined {
    if (sealed === null) return undefined
    const text = sealer.open(sealed, useOf(decisionId))
    return { facts: factsOf(text), hash: sha256Base64url(text) }
  }

  return {
    recordMany,
    async record(tx, scope, decision) {
      const [id = ''] = await recordMany(tx, scope, [decision])
      return id
    },
    async readFacts(tx, decisionId) {
      return open(decisionId, await findSealedFacts(tx, decisionId))?.facts
    },
    async openFacts(tx, decisionId) {
      return open(decisionId, await findSealedFacts(tx, decisionId))
    },
    async *listDecisionsBetween(scope, { isNewestFirst, kind, from, to, after: start }) {
      const filter = { kinds: kind === undefined ? undefined : [kind], from, to }
      for (let after = start; ; ) {
        const page = { after, limit: PAGE_ROWS, maxBytes: PAGE_BYTES, isNewestFirst }
        const { rows, isCut } = await db.tenant(scope, (tx) => listInOrder(tx, scope, filter, page))
        for (const { id, entry, sealedFacts } of rows) {
          yield {
            entry: JSON.parse(entry) as DecisionEntry,
            facts: () => open(id, sealedFacts)?.facts,
            bytes: entry.length + (sealedFacts?.length ?? 0),
          }
        }
        after = rows.at(-1)?.id
        if (rows.length < PAGE_ROWS && !isCut) return
      }
    },
  }
}

// Their hash is that of this text as it is stored, so it needs no canonical form.
function textOf(facts: Json): string {
  return JSON.stringify({ facts, salt: takeRandomBytes(SALT_BYTES).toString('base64url') })
}

function factsOf(text: Uint8Array): Json {
  const { facts } = parseJson(text, FACTS_LIMITS) as { facts: Json }
  return facts
}

// Sealed facts that are copied to another entry don't open there.
function useOf(decisionId: string): string {
  return `decision facts ${decisionId}`
}
