// Decisions as an account reads them, and their explanations.

import { recordAudit } from '#src/account/audit/record.ts'
import { DECISION_KINDS, type DecisionKind } from '#src/catalogue/decisions.ts'
import { Failure } from '#src/failure.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import { type Acting, hasScope, type Principal } from '#src/platform/http/principal.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { type DecisionEntry, entryHash } from '#src/platform/ledger/entry.ts'
import type { Ledger, OpenedFacts } from '#src/platform/ledger/record.ts'
import type { DecisionFilter } from '#src/platform/ledger/rows.ts'
import { countDecisions, findDecision, findDecisions, type PlacedDecision } from './rows.ts'

/**
 * Repeats a decision of its kind from its facts: pure, so that it comes to the same answer. What it returns may have the
 * members `valid`, `reason`, `policy_version` and `rule_results` of an entry, which are compared, and others.
 */
export type Explainer = (facts: Json, entry: DecisionEntry) => Json

/** As the routes parse it. */
export interface DecisionQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
  kind?: DecisionKind | undefined
  reason?: string | undefined
  jti?: string | undefined
  /** ISO 8601, as those below. */
  from?: string | undefined
  to?: string | undefined
  created_gte?: string | undefined
  created_lt?: string | undefined
}

/** An entry with its hash and its place. */
export type ShownDecision = DecisionEntry & { entry_hash: string; position: number | null }

export interface Explanation {
  decision: ShownDecision
  /** What decisions of this kind record. */
  meaning: string
  /** Whether the entry has its hash. */
  isEntryIntact: boolean
  facts: 'intact' | 'changed' | 'none'
  /** Of facts that are there and intact, or null. */
  shownFacts: Json | null
  /** Null where the kind is not repeated, or the facts are not intact. */
  replay: Json | null
  /** Whether the replay came to the recorded answer; null without one. */
  isSameAnswer: boolean | null
  /** Members of the entry for which it did not. */
  differences: string[]
}

interface DecisionsDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  ledger: Pick<Ledger, 'openFacts'>
  explainers: Partial<Record<DecisionKind, Explainer>>
}

/** Of a list, whose answer is made at once: some 15 ms. 100 entries have 200 KB, where few rules match. */
const PAGE_BYTES = 512 * 1024

const COMPARED = ['valid', 'reason', 'policy_version', 'rule_results'] as const

export type Decisions = ReturnType<typeof createDecisions>

export function createDecisions({ db, pager, ledger, explainers }: DecisionsDeps) {
  return {
    /** Newest first. A page may have fewer than `limit` and still a next one. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: DecisionQuery): Promise<Page<ShownDecision> & { total_count?: number }> {
      const filter = filterOf(query)
      const binding = { route: 'GET /v1/decisions', scope, query: { ...query } }
      const below = pager.decode(query.cursor, binding)
      const wanted = { below, limit: query.limit + 1, maxBytes: PAGE_BYTES }
      const { found, total } = await db.tenant(scope, async (tx) => ({
        found: await findDecisions(tx, scope, filter, wanted),
        total: query.include === undefined ? undefined : await countDecisions(tx, scope, filter),
      }))
      const { data, ...page } = pager.page(found.rows, query.limit, ({ id }) => id, binding)
      const last = found.isCut ? data.at(-1) : undefined
      return {
        ...page,
        ...(last !== undefined && { has_more: true, next_cursor: pager.cursorAfter(last.id, binding) }),
        data: data.map(show),
        ...(total !== undefined && { total_count: total }),
      }
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    async get(acting: Acting, id: string): Promise<ShownDecision> {
      checkId(id, 'dec', acting.environment)
      return show(found(visibleTo(acting.principal, await db.tenant(acting, (tx) => findDecision(tx, id)))))
    },

    /**
     * The facts have what the caller of authorize and verify sent, so that reading them is on record.
     * @throws {Failure} `not_found`, `environment_mismatch`.
     */
    async explain(acting: Acting, id: string): Promise<Explanation> {
      checkId(id, 'dec', acting.environment)
      const { row, opened } = await db.tenant(acting, async (tx) => ({
        row: found(await findDecision(tx, id)),
        opened: await openedOf(() => ledger.openFacts(tx, id)),
      }))
      // A policy of a thousand rules may take a while: no connection waits for it.
      const explanation = explain(row, opened)
      await db.tenant(acting, (tx) =>
        recordAudit(tx, acting, {
          action: 'decision_facts.read',
          subjectId: id,
          after: { facts: explanation.facts },
        }),
      )
      return explanation
    },
  }

  function explain(row: PlacedDecision, opened: OpenedFacts | 'changed' | undefined): Explanation {
    const decision = show(row)
    const { entry_hash: _, position: __, ...entry } = decision
    const isIntact = typeof opened === 'object' && opened.hash === entry.facts_hash
    const isNone = opened === undefined && entry.facts_hash === null
    const replay = isIntact ? (explainers[entry.kind]?.(opened.facts, entry) ?? null) : null
    const differences = replay === null ? [] : differencesOf(replay, entry)
    return {
      decision,
      meaning: DECISION_KINDS[entry.kind],
      isEntryIntact: isEqualBytes(entryHash(row.entry), row.entrySha256),
      facts: isIntact ? 'intact' : isNone ? 'none' : 'changed',
      shownFacts: isIntact ? opened.facts : null,
      replay,
      isSameAnswer: replay === null ? null : differences.length === 0,
      differences,
    }
  }
}

/** A key without `admin` reads what it made itself. Whatever else there is, is unknown to it. */
function visibleTo(principal: Principal, row: PlacedDecision | undefined): PlacedDecision | undefined {
  if (row === undefined || principal.kind === 'session' || hasScope(principal, 'admin')) return row
  const { actor } = JSON.parse(row.entry) as DecisionEntry
  return actor !== 'service' && actor.key_id === principal.keyId ? row : undefined
}

function found(row: PlacedDecision | undefined): PlacedDecision {
  if (row === undefined) throw new Failure('not_found', 'There is no such decision, or its retention has ended.')
  return row
}

function show({ entry, entrySha256, position }: PlacedDecision): ShownDecision {
  return { ...(JSON.parse(entry) as DecisionEntry), entry_hash: entrySha256.toString('base64url'), position }
}

// The sealer refuses what was changed; the explanation says so.
async function openedOf(open: () => Promise<OpenedFacts | undefined>): Promise<OpenedFacts | 'changed' | undefined> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof Error && /sealed value/.test(error.message)) return 'changed'
    throw error
  }
}

function differencesOf(replay: Json, entry: DecisionEntry): string[] {
  if (typeof replay !== 'object' || replay === null || Array.isArray(replay)) return []
  return COMPARED.filter((name) => {
    const repeated = replay[name]
    return repeated !== undefined && canonicalize(repeated) !== canonicalize(entry[name] as unknown as Json)
  })
}

function filterOf({ kind, reason, jti, from, to, created_gte, created_lt }: DecisionQuery): DecisionFilter {
  return {
    kind,
    reason,
    jti,
    from: timesOf(from, created_gte).at(-1),
    to: timesOf(to, created_lt)[0],
  }
}

/** The earliest first. */
function timesOf(...texts: (string | undefined)[]): Date[] {
  const times = texts.flatMap((text) => (text === undefined ? [] : [new Date(text)]))
  return times.toSorted((a, b) => a.getTime() - b.getTime())
}
