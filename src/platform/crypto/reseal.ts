// A rotation of the master key: seals every value again that stands under another key than the current one. The values
// themselves say where they stand, so that a run may be stopped at any time and repeated. Nothing is locked while values are
// opened and sealed, and no row is waited for: a value that changed meanwhile, or that is locked, is left to the next pass.

import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { Sealer } from './seal.ts'
import type { SealedColumn } from './sealed-columns.ts'

interface ResealDeps {
  db: Pick<Database, 'system' | 'tenant' | 'readSystem' | 'readTenant'>
  sealer: Sealer
  columns: readonly SealedColumn[]
  /** Every account. */
  accounts(): AsyncIterable<{ id: string }>
}

export interface SealedCount {
  table: string
  column: string
  /** null: the value is in no known format. */
  keyId: string | null
  /** `missing`: values under this key can't be opened, because it is not configured. */
  key: 'current' | 'previous' | 'missing'
  values: number
}

export interface UnopenedValue {
  table: string
  column: string
  id: string
  account?: string
  environment?: Environment
  reason: string
}

export interface ResealPass {
  /** Environments of accounts that were searched, and the deployment. */
  places: number
  /** Values that stood under another key. */
  found: number
  /** The others were locked or changed meanwhile, or can't be opened. */
  resealed: number
  unopened: UnopenedValue[]
}

// A batch locks its rows for one statement and its commit.
const BATCH_ROWS = 100
const BETWEEN_PASSES_MS = 250
const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'live']

/** How many values stand under which key, with a row for each column and key that occur. */
export async function countSealed(deps: ResealDeps): Promise<SealedCount[]> {
  const { sealer, columns } = deps
  const counts = new Map<string, SealedCount>()
  for await (const place of placesOf(deps)) {
    const found = await place.read<{ keyId: string | null; values: number }>(place.columns.map(countStatement))
    place.columns.forEach(({ table, column }, index) => {
      for (const { keyId, values } of found[index] ?? []) {
        const name = `${table} ${column} ${keyId}`
        const key =
          keyId === sealer.keyIds[0] ? 'current' : sealer.keyIds.includes(keyId ?? '') ? 'previous' : 'missing'
        const count = counts.get(name) ?? { table, column, keyId, key, values: 0 }
        counts.set(name, { ...count, values: count.values + values })
      }
    })
  }
  const order = columns.map(({ table, column }) => `${table} ${column}`)
  const rank = ({ table, column }: SealedCount) => order.indexOf(`${table} ${column}`)
  return [...counts.values()].sort((a, b) => rank(a) - rank(b) || String(a.keyId).localeCompare(String(b.keyId)))
}

/**
 * Passes over everything until one finds no value left to seal: also values that a process with the old key wrote meanwhile.
 * Returns how many were sealed, and those that can't be opened, which stay as they are.
 * @param onPass Called after each pass.
 * @param onPlace Called during a pass, after each environment of an account.
 */
export async function resealAll(
  deps: ResealDeps,
  onPass: (pass: ResealPass) => void = () => {},
  onPlace: (pass: ResealPass) => void = () => {},
): Promise<{ resealed: number; unopened: UnopenedValue[] }> {
  let resealed = 0
  for (;;) {
    const pass = await resealOnce(deps, onPlace)
    resealed += pass.resealed
    onPass(pass)
    if (pass.found === pass.unopened.length) return { resealed, unopened: pass.unopened }
    await delay(BETWEEN_PASSES_MS)
  }
}

async function resealOnce(deps: ResealDeps, onPlace: (pass: ResealPass) => void): Promise<ResealPass> {
  const pass: ResealPass = { places: 0, found: 0, resealed: 0, unopened: [] }
  for await (const place of placesOf(deps)) {
    // All columns of a place share one round trip: most accounts have nothing left.
    const first = await place.read<Found>(place.columns.map((column) => findStatement(column, deps.sealer, '')))
    for (const [index, column] of place.columns.entries()) {
      for (let rows = first[index] ?? []; rows.length > 0; ) {
        pass.found += rows.length
        const { resealed, unopened } = await resealBatch(deps.sealer, place, column, rows)
        pass.resealed += resealed
        pass.unopened.push(...unopened)
        const last = rows.at(-1)
        if (last === undefined || rows.length < BATCH_ROWS) break
        rows = (await place.read<Found>([findStatement(column, deps.sealer, last.id)]))[0] ?? []
      }
    }
    pass.places += 1
    onPlace(pass)
  }
  return pass
}

async function resealBatch(
  sealer: Sealer,
  place: Place,
  column: SealedColumn,
  rows: readonly Found[],
): Promise<Pick<ResealPass, 'resealed' | 'unopened'>> {
  const unopened: UnopenedValue[] = []
  const opened = rows.flatMap((row) => {
    const use = column.use(row.used)
    try {
      return [{ ...row, fresh: sealer.seal(sealer.open(row.sealed, use), use) }]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      unopened.push({ table: column.table, column: column.column, id: row.id, ...place.names, reason })
      return []
    }
  })
  if (opened.length === 0) return { resealed: 0, unopened }
  const changed = await place.write((tx) =>
    tx.query(changeText(column), [
      opened.map(({ id }) => id),
      opened.map(({ sealed }) => sealed),
      opened.map(({ fresh }) => fresh),
    ]),
  )
  return { resealed: changed.length, unopened }
}

interface Found {
  id: string
  sealed: Buffer
  used: Record<string, string>
}

// Keyset and not SKIP LOCKED: a row that is locked counts as found.
function findStatement(
  { table, column, id, reads = [] }: SealedColumn,
  { currentHeader }: Sealer,
  after: string,
): Statement {
  const used = [id, ...reads].map((name) => `'${name}', ${name}::text`).join(', ')
  return {
    text: `SELECT ${id}::text AS id, ${column} AS sealed, jsonb_build_object(${used}) AS used FROM ${table}
       WHERE ${column} IS NOT NULL AND substring(${column} FROM 1 FOR $1::int) <> $2::bytea
         AND ${id}::text COLLATE "C" > $3
       ORDER BY ${id}::text COLLATE "C" LIMIT ${BATCH_ROWS}`,
    values: [currentHeader.byteLength, currentHeader, after],
  }
}

// Only where the value is still the one that was opened. Rows are locked in one order and none is waited for.
function changeText({ table, column, id }: SealedColumn): string {
  return `WITH fresh AS (
      SELECT * FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS one (id, old, sealed)
    ), mine AS (
      SELECT t.${id}::text AS id FROM ${table} t JOIN fresh ON t.${id}::text = fresh.id AND t.${column} = fresh.old
      ORDER BY t.${id} FOR NO KEY UPDATE OF t SKIP LOCKED
    )
    UPDATE ${table} AS t SET ${column} = fresh.sealed FROM fresh JOIN mine ON mine.id = fresh.id
    WHERE t.${id}::text = fresh.id AND t.${column} = fresh.old RETURNING 1`
}

// version (1 byte), length of the key id (1), key id: see seal.ts.
function countStatement({ table, column }: SealedColumn): Statement {
  return {
    text: `SELECT CASE WHEN octet_length(${column}) > 2 AND get_byte(${column}, 0) = 1
         THEN encode(substring(${column} FROM 3 FOR get_byte(${column}, 1)), 'escape') END AS "keyId",
         count(*)::int AS values
       FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1`,
    values: [],
  }
}

/** Where rows are reached together: the deployment, or an account's environment. */
interface Place {
  columns: readonly SealedColumn[]
  names: { account?: string; environment?: Environment }
  read<Row>(statements: readonly Statement[]): Promise<Row[][]>
  write<Row>(work: (tx: Tx) => Promise<Row[]>): Promise<Row[]>
}

async function* placesOf({ db, columns, accounts }: ResealDeps): AsyncGenerator<Place> {
  const columnsOf = (...owners: SealedColumn['of'][]) => columns.filter((column) => owners.includes(column.of))
  yield {
    columns: columnsOf('deployment'),
    names: {},
    read: <Row>(statements: readonly Statement[]) =>
      Promise.all(statements.map((statement) => db.readSystem<Row>('reseal', () => statement))),
    write: (work) => db.system('reseal', work),
  }
  for await (const { id: accountId } of accounts()) {
    for (const environment of ENVIRONMENTS) {
      const scope: Scope = { accountId, environment }
      // Rows of the account as a whole are seen from both environments.
      const own = environment === 'sandbox' ? columnsOf('account', 'environment') : columnsOf('environment')
      if (own.length === 0) continue
      yield {
        columns: own,
        names: { account: accountId, environment },
        read: <Row>(statements: readonly Statement[]) => db.readTenant<Row[]>(scope, [...statements]),
        write: (work) => db.tenant(scope, work),
      }
    }
  }
}
