// Decisions as an account reads them, and their explanations.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { DECISION_KINDS, type DecisionKind } from '#src/catalogue/decisions.ts'
import { Failure } from '#src/failure.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type ActorsOf, type ActorView, unlabelledActor } from '#src/platform/http/actor.ts'
import { type CountedPage, createdBetween, type ListQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, hasScope, type Principal } from '#src/platform/http/principal.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { type DecisionEntry, type EntrySubjects, entryHash, subjectsOf } from '#src/platform/ledger/entry.ts'
import type { Ledger, OpenedFacts } from '#src/platform/ledger/record.ts'
import type { DecisionFilter } from '#src/platform/ledger/rows.ts'
import { countDecisions, findDecision, findDecisions, type PlacedDecision } from './rows.ts'

/**
 * Repeats a decision of its kind from its facts: pure, so that it comes to the same answer. What it returns may have the
 * members `valid`, `reason`, `policy_version` and `rule_results` of an entry, which are compared, and others.
 */
export type Explainer = (facts: Json, entry: DecisionEntry) => Json

export type DecisionQuery = Pick<DecisionFilter, 'kinds' | 'reasons' | 'subjects'> & ListQuery

/** An entry with what is known of it: its hash, its place, and who acted as people call them. */
export interface ShownDecision {
  entry: DecisionEntry
  /** Base64url. */
  entryHash: string
  /** Of its leaf. */
  position: number | null
  actor: ActorView
  subjects: EntrySubjects
}

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
    async list(scope: Scope, query: DecisionQuery): Promise<CountedPage<ShownDecision>> {
      const { kinds, reasons, subjects } = query
      const filter = { kinds, reasons, subjects, ...createdBetween(query) }
      const binding = { route: 'GET /v1/decisions', scope, query: { ...query } }
      const below = pager.decode(query.cursor, binding)
      const wanted = { below, limit: query.limit + 1, maxBytes: PAGE_BYTES }
      return db.tenant(scope, async (tx) => {
        const { rows, isCut } = await findDecisions(tx, scope, filter, wanted)
        const total = query.include === undefined ? undefined : await countDecisions(tx, scope, filter)
        const { data, ...page } = pager.page(rows, query.limit, ({ id }) => id, binding)
        const last = isCut ? data.at(-1) : undefined
        return {
          ...page,
          ...(last !== undefined && { has_more: true, next_cursor: pager.cursorAfter(last.id, binding) }),
          data: await showAll(tx, data),
          ...(total !== undefined && { total_count: total }),
        }
      })
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    async get(acting: Acting, id: string): Promise<ShownDecision> {
      checkId(id, 'dec', acting.environment)
      return db.tenant(acting, async (tx) =>
        showOne(tx, found(visibleTo(acting.principal, await findDecision(tx, id)))),
      )
    },

    /**
     * The facts have what the caller of authorize and verify sent, so that reading them is on record.
     * @throws {Failure} `not_found`, `environment_mismatch`.
     */
    async explain(acting: Acting, id: string): Promise<Explanation> {
      checkId(id, 'dec', acting.environment)
      const { row, decision, opened } = await db.tenant(acting, async (tx) => {
        const row = found(await findDecision(tx, id))
        const opened = await openedOf(() => ledger.openFacts(tx, id))
        return { row, decision: await showOne(tx, row), opened }
      })
      // A policy of a thousand rules may take a while: no connection waits for it.
      const explanation = explain(row, decision, opened)
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

  function explain(
    row: PlacedDecision,
    decision: ShownDecision,
    opened: OpenedFacts | 'changed' | undefined,
  ): Explanation {
    const { entry } = decision
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
  return actor !== 'service' && actor.api_key_id === principal.keyId ? row : undefined
}

function found(row: PlacedDecision | undefined): PlacedDecision {
  if (row === undefined) throw new Failure('not_found', 'There is no such decision, or its retention has ended.')
  return row
}

async function showOne(tx: Tx, row: PlacedDecision): Promise<ShownDecision> {
  const [decision] = await showAll(tx, [row])
  if (decision === undefined) throw new Error('one row is shown as one decision')
  return decision
}

async function showAll(tx: Tx, rows: readonly PlacedDecision[]): Promise<ShownDecision[]> {
  const entries = rows.map(({ entry }) => JSON.parse(entry) as DecisionEntry)
  const actors = await readActors(
    tx,
    entries.flatMap(({ actor }) => (actor === 'service' ? [] : [actor.actor_id, actor.person])),
  )
  return rows.map(({ entrySha256, position }, index) => {
    const entry = entries[index] as DecisionEntry
    const entryHash = entrySha256.toString('base64url')
    return { entry, entryHash, position, actor: actorViewOf(entry, actors), subjects: subjectsOf(entry) }
  })
}

// A key may name a member by id: people know them by their address.
function actorViewOf({ actor }: DecisionEntry, actors: ActorsOf): ActorView {
  if (actor === 'service') return unlabelledActor(actor)
  const { actor_id: id, person } = actor
  return actors(id, actors(person)?.label ?? person)
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
