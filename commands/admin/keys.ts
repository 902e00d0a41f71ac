// `admin -- key`: API keys. A raw key is shown once, by `key create`.

import { GRANTABLE_SCOPES } from '#src/catalogue/access.ts'
import { findAccount } from './accounts.ts'
import { MAX_LISTED, readEnvironment, readLimit, readTime, required, someOf, type Values } from './arguments.ts'
import type { Act } from './commands.ts'

export function readKeyCreate(values: Values): Act {
  const accountId = required('--account', values.account)
  const environment = readEnvironment(values)
  const scopes = someOf('--scopes', required('--scopes', values.scopes), GRANTABLE_SCOPES)
  const expiresAt = values.expires === undefined ? undefined : readTime('--expires', values.expires)
  const name = values.name ?? 'made by an operator'
  const isReadOnly = values['read-only']
  return async ({ services, log }) => {
    const account = await findAccount(services, accountId)
    const made = await services.account.keys.create(
      { accountId: account.id, environment },
      { name, scopes, isReadOnly, ...(expiresAt === undefined ? {} : { expiresAt }) },
    )
    log('key create', { account: account.id, id: made.id, scopes })
    return { ...made, note: 'The key is shown this once.' }
  }
}

export function readKeyList(values: Values): Act {
  const accountId = required('--account', values.account)
  const environment = readEnvironment(values)
  const limit = readLimit(values.limit, MAX_LISTED)
  const { before } = values
  return async ({ services, say }) => {
    await findAccount(services, accountId)
    const found = await services.account.keys.list({ accountId, environment }, { before, limit: limit + 1 })
    const keys = found.slice(0, limit)
    if (found.length > limit) say(`There are more: --before ${keys.at(-1)?.id}`)
    return keys.map(({ id, name, prefix, last4, scopes, createdAt, lastUsedAt, expiresAt, revokedAt, isReadOnly }) => ({
      id,
      name,
      key: `${prefix}...${last4 ?? ''}`,
      scopes: scopes.join(','),
      isReadOnly,
      createdAt,
      lastUsedAt,
      expiresAt,
      revokedAt,
    }))
  }
}

export function readKeyRevoke(_: Values, word: string | undefined): Act {
  const id = required('KEY_ID', word)
  return async ({ services, confirm, log }) => {
    const scope = await services.account.keys.findScope(id)
    if (scope === undefined) throw new Error(`There is no key ${id}.`)
    const { name, revokedAt } = await services.account.keys.get(scope, id)
    if (revokedAt !== null) throw new Error(`${id} was revoked at ${revokedAt.toISOString()} already.`)
    await confirm(`Revoke ${id} ("${name}") of ${scope.accountId}? Requests with it fail from now on, permanently.`)
    log('key revoke', { account: scope.accountId, id })
    return services.account.keys.revoke(scope, id)
  }
}
