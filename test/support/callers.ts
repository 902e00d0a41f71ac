import { randomBytes } from 'node:crypto'
import type { FindKey, KeyRow } from '#src/platform/http/caller.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { makeAccount, type TestDatabase } from './database.ts'
import { makeKeyRow } from './http.ts'

/** A caller as its routes see it, with the raw key that makes it one. */
export type TestCaller = Caller & { key: string }

export interface Keyring {
  findKey: FindKey
  /** A raw key. */
  addKey(row: Partial<KeyRow>): string
  /** An account of its own, and a raw key for it. */
  makeCaller(row?: Partial<KeyRow>): Promise<TestCaller>
}

/** Keys that need no row in the database. `scopes` are those of a key that names none. */
export function createKeyring(test: Pick<TestDatabase, 'db'>, scopes: KeyRow['scopes'] = ['all']): Keyring {
  const keys = new Map<string, KeyRow>()
  const add = (row: Partial<KeyRow>) => {
    const key = randomBytes(24).toString('base64url')
    const stored = makeKeyRow({ scopes, ...row })
    keys.set(key, stored)
    return { ...callerOf(stored), key }
  }
  return {
    findKey: async (raw) => keys.get(raw),
    addKey: (row) => add(row).key,
    async makeCaller(row = {}) {
      return add({ ...row, ...(await makeAccount(test, row.environment && { environment: row.environment })) })
    },
  }
}

/** What a key makes its caller. */
export function callerOf(row: Partial<KeyRow> = {}): Caller {
  const { keyId, scopes, accountId, environment, isAccountBearing, plan, products } = makeKeyRow(row)
  return { accountId, environment, principal: { kind: 'key', keyId, scopes }, isAccountBearing, plan, products }
}

/** A key of this scope, for domain functions that record who acts. */
export function actingIn({ accountId, environment }: Scope): Acting {
  const { principal } = callerOf({ environment })
  return { accountId, environment, principal }
}
