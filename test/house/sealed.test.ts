// A value that a rotation of the master key forgets is lost when the old key goes.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APP_ROLE, SYSTEM_ROLE } from '#src/platform/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { makeServices } from '../support/services.ts'

const SRC = resolve(import.meta.dirname, '../../src')
// What bytes are by their names, if they are not secret.
const PUBLIC = /(?:^|_)(?:hash|digest|sha256|fingerprint|spki|certificate|certificate_chain)$/
// Other bytes that are not sealed.
const NOT_SEALED = new Set([
  'devices.attest_key',
  'login_links.nonce',
  'invites.nonce',
  'trace_shares.mask_salt',
  'disclosure_requests.code_nonce',
  'disclosure_requests.grant_nonce',
  'status_lists.seed',
  'passkeys.credential_id',
  'passkeys.public_key',
  // What a receiver answered.
  'delivery_attempts.response_body',
  'passkey_challenges.challenge',
  'passkey_challenges.nonce',
  'passkey_registrations.challenge',
  'diff_checkpoints.neurons',
  // The greys of a picture, 64 x 64: no text of it can be read.
  'pictures.detail',
  // Keyed hashes.
  'prescribers.match_full',
  'prescribers.match_name',
  'prescribers.match_states',
])
// The feature of a file that seals is the one of its folder, or for the platform the one in upkeep.ts.
const SEALS = /\b[Ss]ealer\.seal\(/

const declared = makeServices().features.flatMap(({ name, sealed = [] }) =>
  sealed.map((column) => ({ name, ...column })),
)

describe('sealed values', () => {
  let database: TestDatabase
  let columns: { table: string; column: string; type: string }[]

  beforeAll(async () => {
    database = await createTestDatabase()
    columns = await database.owner(
      `SELECT table_name AS table, column_name AS column, udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'public'`,
    )
  })
  afterAll(() => database?.close())

  it('stand in columns that a feature declares in `sealed`: every column of bytes is declared, or public by its name', () => {
    const mayBeSealed = columns.filter(
      ({ table, column, type }) =>
        column.startsWith('sealed_') ||
        (/^_?bytea$/.test(type) && !PUBLIC.test(column) && !NOT_SEALED.has(`${table}.${column}`)),
    )
    const names = declared.map(({ table, column }) => `${table}.${column}`)
    expect(mayBeSealed.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(names.toSorted())
  })

  it('are sealed by files whose feature declares such a column', () => {
    const sealing = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && file !== 'platform/crypto/reseal.ts')
      .filter((file) => SEALS.test(readFileSync(join(SRC, file), 'utf8')))
    expect(sealing.length).toBeGreaterThan(1)
    const silent = sealing.filter((file) => {
      const feature = file.startsWith('platform/') ? 'platform/upkeep.ts' : join(dirname(file), 'feature.ts')
      return !/\bsealed: \[/.test(readFileSync(join(SRC, feature), 'utf8'))
    })
    expect(silent).toEqual([])
  })

  it('and what is derived from the master key are made in one file, which knows the previous keys', () => {
    const readers = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && /\bconfig\.MASTER_KEY\b/.test(readFileSync(join(SRC, file), 'utf8')),
    )
    expect(readers).toEqual(['services.ts'])
  })

  it('can be read and replaced by the role that a rotation uses', async () => {
    for (const { table, column, of, id, reads = [] } of declared) {
      const role = of === 'deployment' ? SYSTEM_ROLE : APP_ROLE
      const type = columns.find((one) => one.table === table && one.column === column)?.type
      const [row] = await database.owner<{ mayWrite: boolean; mayRead: boolean }>(
        `SELECT has_column_privilege($1, $2, $3, 'UPDATE') AS "mayWrite",
           (SELECT bool_and(has_column_privilege($1, $2, read, 'SELECT')) FROM unnest($4::text[]) AS read) AS "mayRead"`,
        [role, table, column, [id, column, ...reads]],
      )
      expect({ table, type, ...row }).toEqual({ table, type: 'bytea', mayWrite: true, mayRead: true })
    }
  })
})
